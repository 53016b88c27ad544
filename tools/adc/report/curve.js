// The heap of a launch over one parameter, both axes logarithmic: a line for each group of targets whose curves are the same.

const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat(Infinity).filter((child) => child !== null));
  return made;
}

/** "1.5M": for an axis. */
function shortNumber(number) {
  const units = ["", "k", "M", "G", "T"];
  let value = number, unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(value < 10 ? 1 : 0)}${units[unit]}`;
}

/** Where curves lie in the picture. */
class Axes {
  constructor(x_low, x_high, y_low, y_high) {
    Object.assign(this, { width: 860, height: 300, left: 78, right: 14, top: 12, bottom: 34 });
    this.x_range = [Math.log10(x_low), Math.log10(x_high)];
    this.y_range = [Math.log2(y_low), Math.log2(y_high)];
  }

  x(value) {
    const [low, high] = this.x_range;
    return this.left + (Math.log10(value) - low) / (high - low) * (this.width - this.left - this.right);
  }

  y(value) {
    const [low, high] = this.y_range, height = this.height - this.top - this.bottom;
    return this.top + height - (Math.log2(Math.max(value, 2 ** low)) - low) / (high - low) * height;
  }

  valueAt(x) {
    const [low, high] = this.x_range;
    return 10 ** (low + (x - this.left) / (this.width - this.left - this.right) * (high - low));
  }

  grid() {
    const parts = [], [x_low, x_high] = this.x_range, [y_low, y_high] = this.y_range;
    const base = this.height - this.bottom;
    for (let power = Math.ceil(x_low); power <= x_high; ++power) {
      const x = this.x(10 ** power);
      parts.push(drawn("line", { class: "grid", x1: x, x2: x, y1: this.top, y2: base }), drawn("text", { x, y: base + 18, "text-anchor": "middle" }, shortNumber(10 ** power)));
    }
    const step = Math.max(1, Math.ceil((y_high - y_low) / 7));
    for (let power = Math.ceil(y_low); power <= y_high; power += step) {
      const y = this.y(2 ** power);
      parts.push(drawn("line", { class: "grid", x1: this.left, x2: this.width - this.right, y1: y, y2: y }), drawn("text", { x: this.left - 8, y: y + 4, "text-anchor": "end" }, humanBytes(2 ** power)));
    }
    return parts;
  }
}

/** How long one picture may take to compute, in milliseconds, and how many points it has at least. */
const CURVE_TIME = 150, FEWEST_POINTS = 9;

/** 0 to below `count`, every eighth first, then those between. */
function coarseFirst(count) {
  const rank = (number) => [8, 4, 2, 1].findIndex((step) => number % step === 0);
  return Array.from({ length: count }, (_, number) => number).sort((left, right) => rank(left) - rank(right) || left - right);
}

/** Curves over a slider: the points [x, bytes or null] of targets, those with the same points together. Where they take long
    there are fewer points. */
function curveGroups(view, slider, values) {
  const end = performance.now() + CURVE_TIME, rows = new Map();
  for (const at of coarseFirst(values.length)) {
    if (rows.size >= FEWEST_POINTS && performance.now() > end) break;
    const shared = new Map();
    rows.set(at, view.targets.map((target) => {
      const launch = view.plan(target, new Map([[slider, values[at]]]), shared);
      return launch.refusal || !launch.resolved ? null : Number(launch.heap);
    }));
  }
  const places = [...rows.keys()].sort((left, right) => left - right), groups = new Map();
  view.targets.forEach((target, number) => {
    const points = places.map((at) => [Number(values[at]), rows.get(at)[number]]), key = JSON.stringify(points);
    if (!groups.has(key)) groups.set(key, { names: [], points });
    groups.get(key).names.push(target.name);
  });
  return [...groups.values()];
}

/** The curves of before, over the slider of the same name; none where it had none. */
function curvesBefore(view, slider, values) {
  if (view.before === null || view.before.is_static) return [];
  view.before.settings.follow(view.settings);
  const twin = view.settings.twinOf(slider, view.before.settings);
  return twin === undefined ? [] : curveGroups(view.before, twin, values);
}

function linePath(axes, points) {
  let path = "", pen = "M";
  for (const [x, y] of points) {
    if (y === null) pen = "M";
    else {
      path += `${pen}${axes.x(x).toFixed(1)} ${axes.y(y).toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}

/** What the curves say at a point. */
function curveTip(slider, groups, at) {
  return element("div", { class: "small" }, element("div", {}, element("code", {}, `${slider.label} = ${grouped(groups[0].points[at][0])}`)),
    groups.map((group, number) => element("div", {}, element("span", { class: `dot series-${number % 6}` }), ` ${group.names.join(", ")}: `,
      group.points[at][1] === null ? "not known, or refused" : humanBytes(group.points[at][1]))));
}

/** The number of the curve that has a target of this one. */
function seriesOf(groups, before) {
  const at = groups.findIndex((group) => group.names.some((name) => before.names.includes(name)));
  return Math.max(0, at) % 6;
}

function curvePicture(view, slider) {
  const values = [];
  for (let position = slider.first; position < slider.first + slider.exponent(slider.high) - slider.exponent(slider.low) + 1; position += Math.max(1, slider.steps / 2)) values.push(slider.valueAt(position));
  const groups = curveGroups(view, slider, values), before = curvesBefore(view, slider, values);
  const bytes = [...groups, ...before].flatMap((group) => group.points.map((point) => point[1])).filter((one) => one !== null && one > 0);
  if (bytes.length === 0) return element("p", { class: "quiet small" }, "No launch of these takes a heap that is known before it.");
  const axes = new Axes(Number(values[0]), Number(values[values.length - 1]), Math.min(...bytes) / 2, Math.max(...bytes) * 2);
  const here = slider.value === null || slider.value < 1n ? null : axes.x(Math.min(Number(slider.value), Number(slider.high)));
  const picture = drawn("svg", { class: "curve", viewBox: `0 0 ${axes.width} ${axes.height}`, role: "img" }, axes.grid(),
    here === null ? null : drawn("line", { class: "here", x1: here, x2: here, y1: axes.top, y2: axes.height - axes.bottom }),
    before.map((group) => drawn("path", { class: `series was series-${seriesOf(groups, group)}`, d: linePath(axes, group.points) })),
    groups.map((group, number) => drawn("path", { class: `series series-${number % 6}`, d: linePath(axes, group.points) })),
    drawn("text", { x: axes.width - axes.right, y: axes.height - 2, "text-anchor": "end" }, slider.label));
  picture.addEventListener("mousemove", (event) => {
    const box = picture.getBoundingClientRect(), wanted = axes.valueAt((event.clientX - box.x) / box.width * axes.width);
    const distance = ([x]) => Math.abs(Math.log(x / wanted)), points = groups[0].points;
    const at = points.reduce((best, point, number) => (distance(point) < distance(points[best]) ? number : best), 0);
    showTip(curveTip(slider, groups, at), event.clientX, event.clientY);
  });
  picture.addEventListener("mouseleave", hideTip);
  return [picture, element("div", { class: "keys small" }, groups.map((group, number) => element("span", {}, element("span", { class: `dot series-${number % 6}` }), ` ${group.names.join(", ")}`)),
    before.length > 0 ? element("span", {}, "dashed: before") : null)];
}

/** The curve of a kernel, over the parameter that is chosen. */
class Curve {
  constructor(view, sliders) {
    this.view = view;
    this.sliders = sliders;
    this.picture = element("div", {});
    this.choice = element("select", { change: () => this.draw() }, sliders.map((slider, at) => element("option", { value: at }, slider.label)));
    this.element = element("div", {}, element("h3", {}, "Heap over ", this.choice), this.picture);
  }

  draw() {
    this.picture.replaceChildren(...[curvePicture(this.view, this.sliders[Number(this.choice.value)])].flat());
  }
}
