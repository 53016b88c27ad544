// What launches of a kernel take: figures that follow its sliders, curves, tasks and stacks.

/** A launch in the form of `adc size --json`. */
function figuresOf(kernel, target, launch) {
  if (launch.refusal) return { target: target.name, refusal: launch.refusal.message, heap_bytes: null, resolved: 0, tasks: [] };
  const largest = launch.tasks.reduce((bytes, task) => most(bytes, task.heap_bytes), 0n);
  const tasks = launch.tasks.map((task, number) => ({
    iterations: task.total, rows: task.rows, row_bytes: task.row_bytes, heap_bytes: task.heap_bytes, segment: task.segment, resolved: task.settled ? 1 : 0,
    may_checkpoint: target.kind !== "cpu" && launch.budget === 0n && kernel.tasks[number].cheap_replay && task.heap_bytes > 0n,
    stacks: task.stacks.map((stack) => ({ capacity: task.settled ? stack.capacity : null })),
  }));
  return { target: target.name, heap_bytes: launch.heap, scratch_bytes: launch.scratch, argument_bytes: most(launch.heap - launch.scratch - largest, 0n), resolved: launch.resolved ? 1 : 0, tasks };
}

/** A kernel, its targets, and how its launches are planned. */
class KernelView {
  constructor(data, kernel) {
    this.data = data;
    this.kernel = kernel;
    this.sizes = data.sizes.filter((size) => size.kernel === kernel.name);
    this.targets = this.sizes.map((size) => ({ name: size.target, number: data.metadata.targets.findIndex((target) => target.name === size.target) }))
      .map((one) => ({ ...one, kind: data.metadata.targets[one.number].kind }));
    this.updates = [];
    this.settings = new Settings(data, kernel, () => this.update());
    this.static_reason = this.staticReason();
    this.is_static = this.static_reason !== null;
    this.compare();
    this.before = data.before === undefined ? null : KernelView.before(data.before, kernel.name);
  }

  /** The kernel of that name in the bundle that was there before; null: it had none. */
  static before(data, name) {
    const kernel = data.metadata.kernels.find((one) => one.name === name && data.sizes.some((size) => size.kernel === name));
    return kernel === undefined ? null : new KernelView(data, kernel);
  }

  /** Figures of before with the sliders of now, by target. */
  figuresBefore() {
    if (this.before === null) return new Map();
    this.before.settings.follow(this.settings);
    return new Map(this.before.figures().map((one) => [one.target, one]));
  }

  /** Why the figures of the command line hold for no other launch: "contents" decide them, or they take "steps" that a page does
      not take; null: they are computed here. */
  staticReason() {
    if (this.sizes[0].missing.length > 0) return null;
    const launches = this.targets.map((target) => this.plan(target));
    if (launches.some((launch) => launch.refusal && launch.refusal.is_too_long)) return "steps";
    return launches.some((launch, at) => !launch.refusal && !launch.resolved && this.sizes[at].resolved === 1) ? "contents" : null;
  }

  /** The figures of the compiler are those of this page, or the page says so. */
  compare() {
    if (this.is_static || this.sizes[0].missing.length > 0) return;
    this.targets.forEach((target, at) => {
      const figures = figuresOf(this.kernel, target, this.plan(target));
      if (figures.refusal === undefined && Number(figures.heap_bytes) === Number(this.sizes[at].heap_bytes)) return;
      throw new Error(`@${this.kernel.name} on ${target.name}: adc size says ${this.sizes[at].heap_bytes}, and this page ${figures.refusal || figures.heap_bytes}`);
    });
  }

  /** `changes`: values of sliders that differ from what they show. `values`: of expressions, for launches that differ in their target alone. */
  plan(target, changes = new Map(), values = new Map()) {
    return planLaunch(this.data, this.kernel, target.number, { ...this.settings.launch(target.kind === "cpu", changes), values });
  }

  figures() {
    const values = new Map();
    return this.is_static ? this.sizes : this.targets.map((target) => figuresOf(this.kernel, target, this.plan(target, undefined, values)));
  }

  /** Shows the figures of now in everything that `onUpdate` was given. */
  update() {
    const figures = this.figures(), before = this.figuresBefore();
    for (const one of figures) one.before = before.get(one.target);
    for (const show of this.updates) show(figures);
  }

  onUpdate(show) {
    this.updates.push(show);
  }
}

/** An element whose content follows the figures. */
function following(view, name, attributes, content) {
  const made = element(name, attributes);
  view.onUpdate((figures) => made.replaceChildren(...[content(figures)].flat(Infinity).filter((child) => child !== null)));
  return made;
}

function whereText(kernel, stack) {
  const param = stack.param >= 0 ? `%${kernel.params[stack.param].name}` : "";
  if (stack.storage === "saved") return `in ${param}, the caller's`;
  return stack.storage === "private" ? "registers or private memory" : param === "" ? "row" : `row, a copy of ${param}`;
}

/** Targets whose tables of stacks are the same, together: {plan, number, targets}. */
function alikePlans(view, task) {
  const groups = new Map();
  view.targets.forEach((target, at) => {
    const entry = task.entries.find((one) => one.target === target.number);
    if (entry === undefined || entry.plan < 0) return;
    const plan = task.plans[entry.plan], key = JSON.stringify([plan.stacks, plan.groups]);
    if (!groups.has(key)) groups.set(key, { plan, number: entry.plan, targets: [] });
    groups.get(key).targets.push(at);
  });
  return [...groups.values()];
}

const placeElement = (text) => element("span", { class: "place" }, text);

function stackRow(kernel, task, plan, stack, capacity, figures) {
  const value = stack.value === "" ? "\u2013" : element("code", {}, `%${stack.value}`);
  if (stack.storage === "promise") {
    return [element("span", {}, "promise of ", element("code", {}, `%${kernel.params[stack.param].name}`)), "", "checked before the launch", "", "", "", placeElement(stack.place)];
  }
  const gate = stack.storage === "row" ? plan.groups[stack.group].gate : "";
  const unknown = task.size_kernel === "" ? "a cap" : "counted before the launch";
  const here = figures === undefined || figures.capacity === null || figures.capacity === undefined ? "?" : grouped(figures.capacity);
  return [value, stack.bits ? "i1, as bits" : stack.type, element("code", {}, capacity === null ? unknown : capacity), { number: here },
    whereText(kernel, stack), gate === "" ? "always" : placeElement(`behind ${gate}`), placeElement(stack.place)];
}

function stackTables(view, task, number) {
  const groups = alikePlans(view, task).filter((group) => group.plan.stacks.length > 0);
  return groups.map((group) => {
    const formulas = view.data.formulas[view.kernel.name][number].plans[group.number];
    const on = groups.length < 2 ? null : element("p", { class: "quiet small" }, `on ${group.targets.map((at) => view.targets[at].name).join(", ")}`);
    const terms = formulas.terms.length === 0 ? null : element("div", { class: "quiet terms" }, formulas.terms.map((term) => element("div", { class: "code" }, term)));
    const head = ["value", "type", "elements", { number: "here" }, "where", "when", "stored at"];
    return [on, following(view, "div", {}, (figures) => {
      const own = figures[group.targets[0]].tasks[number];
      const rows = group.plan.stacks.map((stack, at) => stackRow(view.kernel, task, group.plan, stack, formulas.capacities[at], own === undefined ? undefined : own.stacks[at]));
      return table(head, markStacks(rows, group.plan, formulas, stacksBefore(view, view.targets[group.targets[0]].name, number)));
    }), terms];
  });
}

function heapLabel(size) {
  if (size.refusal !== undefined) return element("span", { class: "refused" }, `refused: ${size.refusal}`);
  if (size.heap_bytes === null) return element("span", { class: "quiet" }, "unknown");
  return element("span", {}, bytesElement(size.heap_bytes, { "data-heap": size.heap_bytes }), size.resolved === 0 ? " and what contents decide" : "");
}

function taskLabel(task) {
  if (task === undefined) return "";
  if (task.resolved === 0) return element("span", { class: "quiet" }, "contents decide");
  const rows = ` \u2014 ${counted(task.rows, "row")} of ${humanBytes(task.row_bytes)}`;
  const segment = task.segment > 0 ? `, checkpoints every ${grouped(task.segment)}`
    : task.may_checkpoint ? ", checkpoints instead where a device's cache holds less than a third" : "";
  return element("span", {}, bytesElement(task.heap_bytes), element("span", { class: "quiet" }, rows + segment));
}

/** Bytes of the same task before, where the kernel had as many tasks. */
function taskBefore(view, figures, number) {
  const has_same = figures.before !== undefined && view.before.kernel.tasks.length === view.kernel.tasks.length;
  return has_same && figures.before.tasks[number] !== undefined ? figures.before.tasks[number].heap_bytes : null;
}

/** The stacks that a target's plan of a task had before, with their formulas; null where that is not known. */
function stacksBefore(view, target_name, number) {
  const before = view.before;
  if (before === null || before.kernel.tasks.length !== view.kernel.tasks.length) return null;
  const target = before.targets.find((one) => one.name === target_name), task = before.kernel.tasks[number];
  const entry = target === undefined ? undefined : task.entries.find((one) => one.target === target.number);
  if (entry === undefined) return null;
  if (entry.plan < 0) return [];
  const capacities = before.data.formulas[before.kernel.name][number].plans[entry.plan].capacities;
  return task.plans[entry.plan].stacks.map((stack, at) => ({ stack, capacity: capacities[at], used: false }));
}

/** Marks in the rows of a table of stacks which are new or have another formula, and adds those that are gone. */
function markStacks(rows, plan, formulas, before) {
  if (before === null) return rows;
  const same = (left, right) => left.value === right.value && left.type === right.type && left.storage === right.storage;
  plan.stacks.forEach((stack, at) => {
    const found = before.find((one) => !one.used && same(one.stack, stack) && one.capacity === formulas.capacities[at]) || before.find((one) => !one.used && same(one.stack, stack));
    if (found === undefined) rows[at][0] = element("span", {}, rows[at][0], " ", element("span", { class: "tag stored" }, "new"));
    else {
      found.used = true;
      if (found.capacity !== formulas.capacities[at]) rows[at][2] = element("span", {}, rows[at][2], " ", element("code", { class: "gone" }, found.capacity || "?"));
    }
  });
  const gone = before.filter((one) => !one.used).map((one) => [element("code", { class: "gone" }, one.stack.value === "" ? "\u2013" : `%${one.stack.value}`),
    element("span", { class: "gone" }, one.stack.type), element("code", { class: "gone" }, one.capacity || "?"), "", "gone", "", element("span", { class: "place" }, one.stack.place)]);
  return [...rows, ...gone];
}

function taskPart(view, task, number) {
  const over = task.kind === "serial" ? "serial" : `parallel over ${view.data.formulas[view.kernel.name][number].extents.join(" \u00d7 ")}`;
  const has_stacks = task.plans.some((plan) => plan.stacks.length > 0);
  if (!has_stacks) return [element("h3", {}, `Task ${number}: ${over} `, placeElement(`${task.place}, no stacks`))];
  const rows = (figures) => bars(figures.map((one) => ({ name: one.target, number: one.tasks[number] ? one.tasks[number].heap_bytes : null, label: taskLabel(one.tasks[number]), before: taskBefore(view, one, number) })));
  return [element("h3", {}, `Task ${number}: ${over} `, placeElement(task.place)), stackTables(view, task, number), following(view, "div", { class: "task-bars" }, rows)];
}

/** The words that make `adc size` say the same. */
function commandPart(view) {
  const file = view.data.title, kinds = [...new Set(view.targets.map((target) => target.kind === "cpu"))];
  return following(view, "div", { class: "commands small" }, () => {
    const lines = kinds.map((is_cpu) => `adc size ${file} --kernel ${view.kernel.name} ${view.settings.words(is_cpu).join(" ")}`.trim());
    return [...new Set(lines)].map((line) => element("code", {}, line));
  });
}

function controlsPart(view) {
  if (view.is_static) {
    const why = view.static_reason === "contents" ? "Contents of buffers decide these sizes." : "These sizes take too long to compute in a page.";
    return [element("p", { class: "quiet small" }, `${why} The figures are those of the command line; no slider changes them.`)];
  }
  const sliders = [...view.settings.sources.values()], unset = sliders.filter((slider) => !slider.is_given).map((slider) => slider.label);
  const told = unset.length === 0 ? null : element("p", { class: "quiet small" }, `Not given, and so an example: ${unset.join(", ")}.`);
  return [view.settings.element(), told, commandPart(view)];
}

/** The kernels that the page shows. */
const VIEWS = [];

/** The heap of launches that need none, in a sentence: on Vulkan their words. */
function fixedHeapPart(view) {
  const amounts = new Map();
  for (const figures of view.figures()) amounts.set(figures.heap_bytes, [...(amounts.get(figures.heap_bytes) || []), figures.target]);
  const texts = [...amounts].map(([bytes, targets]) => `${humanBytes(bytes)} on ${targets.join(", ")}`);
  return element("p", { class: "heap" }, `A launch takes no rows and no scratch: ${amounts.size === 1 ? `a heap of ${humanBytes([...amounts.keys()][0])}` : texts.join("; ")}.`);
}

function kernelPart(data, kernel) {
  const view = new KernelView(data, kernel);
  VIEWS.push(view);
  const has_heap = view.settings.has_rows || kernel.params.some((param) => param.kind === "scratch");
  const sliders = view.is_static || !has_heap ? [] : [...view.settings.sources.values(), ...[view.settings.budget, view.settings.workers, view.settings.threads].filter((one) => one)];
  const curve = sliders.length === 0 ? null : new Curve(view, sliders);
  if (curve !== null) view.onUpdate(() => curve.draw());
  const heap = () => [controlsPart(view), element("h3", {}, "Heap of a launch"),
    following(view, "div", { class: "heap" }, (figures) => bars(figures.map((one) => ({ name: one.target, number: one.heap_bytes, label: heapLabel(one), before: one.before && one.before.heap_bytes }))))];
  const card = element("section", { class: "card", "data-kernel": kernel.name }, has_heap ? heap() : fixedHeapPart(view), curve === null ? null : curve.element,
    graphPart(kernel), kernel.tasks.map((task, number) => taskPart(view, task, number)));
  view.update();
  const is_new = data.before !== undefined && view.before === null ? element("span", { class: "tag stored" }, "new") : null;
  return [element("h2", { id: `kernel-${kernel.name}` }, `@${kernel.name} `, placeElement(kernel.place), " ", is_new), card];
}
