// Sliders for what the sizes of a kernel's launches depend on.

/** A slider whose steps are even on a logarithmic scale, with a field for the exact number. */
class Slider {
  /** `options`: label, low, high (BigInts, powers of two), greatest (of the field; null: any), value (BigInt or null), before: what null is called (it lies before the
      first number), after: the same, after the last one; steps: of a factor of two. */
  constructor(options, changed) {
    Object.assign(this, { before: null, after: null, steps: 4, hint: null, greatest: null, ...options });
    this.changed = changed;
    this.first = this.before === null ? 0 : 1;
    const positions = this.first + this.exponent(this.high) - this.exponent(this.low) + (this.after === null ? 0 : 1);
    this.range = element("input", { type: "range", min: 0, max: positions, step: 1, "aria-label": this.label, input: () => this.take(this.valueAt(Number(this.range.value)), this.range) });
    this.field = element("input", { type: "text", inputmode: "numeric", "aria-label": `${this.label}, exact`, "data-name": this.label, size: 13, change: () => this.takeField() });
    this.row = element("label", { class: "slider", title: this.hint }, element("span", { class: "name code" }, this.label), this.range, this.field);
    this.show();
  }

  exponent(value) {
    return Math.round(Math.log2(Number(value)) * this.steps);
  }

  valueAt(position) {
    if (this.before !== null && position === 0) return null;
    if (this.after !== null && position === Number(this.range.max)) return null;
    const exponent = position - this.first + this.exponent(this.low);
    const whole = 1n << BigInt(Math.floor(exponent / this.steps)), rest = exponent % this.steps;
    return least(this.high, rest === 0 ? whole : BigInt(Math.round(Number(whole) * 2 ** (rest / this.steps))));
  }

  positionOf(value) {
    if (value === null) return this.before !== null ? 0 : Number(this.range.max);
    if (value <= this.low) return this.first;
    return this.first + Math.min(this.exponent(value), this.exponent(this.high)) - this.exponent(this.low);
  }

  take(value, from) {
    this.value = value !== null && this.greatest !== null ? least(value, this.greatest) : value;
    this.show(from);
    this.changed();
  }

  takeField() {
    const text = this.field.value.replace(/[\s,_]/g, "");
    const none = this.before !== null || this.after !== null;
    if (none && !/^\d+$/.test(text)) return this.take(null, null);
    return /^\d+$/.test(text) ? this.take(BigInt(text), null) : this.show();
  }

  show(from) {
    if (from !== this.range) this.range.value = this.positionOf(this.value);
    this.field.value = this.value === null ? this.before || this.after : grouped(this.value);
  }
}

/** The parameters and axes that the sizes of a kernel's launches depend on: {param, axis}, axis null of a number; -1 of contents. */
function sizeLeaves(kernel) {
  const expressions = expressionsOf(kernel), roots = kernel.params.flatMap((param) => param.extents);
  for (const task of kernel.tasks) {
    roots.push(...task.extents, ...task.plans.flatMap((plan) => plan.stacks.map((stack) => stack.capacity)));
  }
  const found = new Map();
  for (const root of roots) {
    for (const [op, param, axis] of expressions.leaves(root)) {
      const meta = kernel.params[param];
      if (meta.kind !== "buffer" && meta.kind !== "scalar") continue;
      const at = op === "shape" ? axis : op === "arg" ? null : -1;
      found.set(`${param} ${at}`, { param, axis: at });
    }
  }
  return [...found.values()].sort((left, right) => left.param - right.param || left.axis - right.axis);
}

/** The parameter whose extents a buffer has: its own where they were given, else its primal's. */
function shapedLike(kernel, given, param) {
  const primal = kernel.params[param].primal;
  return primal >= 0 && given[kernel.params[param].name] === undefined ? primal : param;
}

const GREATEST = { i1: 1n, i8: 127n, i16: 32767n, i32: (1n << 31n) - 1n, i64: INT64_MAX, u8: 255n, u16: 65535n, u32: (1n << 32n) - 1n, u64: INT64_MAX };
/** The greatest power of two that is not above it. */
const powerBelow = (value) => 1n << BigInt(value.toString(2).length - 1);
const DEFAULT_EXTENT = 1024n, DEFAULT_NUMBER = 64n;

/** All that the sliders of a kernel say, and what was given on the command line. */
class Settings {
  constructor(data, kernel, changed) {
    this.data = data;
    this.kernel = kernel;
    this.given = data.arguments[kernel.name];
    this.sliders = [];
    this.sources = new Map();
    const leaves = sizeLeaves(kernel);
    for (const leaf of leaves.filter((one) => one.axis !== -1)) this.addLeaf(leaf, changed);
    this.read = new Set(leaves.filter((one) => one.axis === -1).map((one) => shapedLike(kernel, this.given, one.param)));
    const add = (options) => {
      const slider = new Slider(options, changed);
      this.sliders.push(slider);
      return slider;
    };
    const kinds = new Set(data.sizes.filter((size) => size.kernel === kernel.name).map((size) => (size.target.startsWith("cpu") ? "cpu" : "device")));
    const threads = data.threads > 0 ? BigInt(data.threads) : null;
    this.has_rows = kernel.tasks.some((task) => task.plans.some((plan) => plan.stacks.some(inRow)));
    if (!this.has_rows) return;
    this.workers = kinds.has("cpu") ? add({ label: "workers of a CPU", low: 1n, high: 256n, value: threads || 1n, steps: 2, hint: "--threads" }) : null;
    this.threads = kinds.has("device") ? add({ label: "threads of a device", low: 1n, high: 1n << 20n, value: threads || 65536n, steps: 2, hint: "--threads" }) : null;
    this.budget = add({ label: "heap budget", low: 1n << 6n, high: 1n << 40n, value: data.budget > 0 ? BigInt(data.budget) : null, after: "none", hint: "--budget, in bytes" });
    if (kernel.params.some((param) => param.kind === "segment")) {
      this.segment = add({ label: "checkpoint every", low: 1n, high: 1n << 30n, value: null, before: "launch's choice", steps: 1, hint: "iterations between checkpoints; 0: whole tapes" });
    }
    this.addPass(changed, kinds);
  }

  addLeaf({ param, axis }, changed) {
    const meta = this.kernel.params[param], source = axis === null ? param : shapedLike(this.kernel, this.given, param);
    const key = `${source} ${axis}`;
    if (this.sources.has(key)) return;
    const from = this.kernel.params[source], own = this.given[from.name];
    const given = own === undefined ? null : axis === null ? own.value : own.extents[axis];
    const label = axis === null ? from.name : from.rank > 1 ? `${from.name}, axis ${axis}` : `${from.name}`;
    const greatest = axis === null ? GREATEST[meta.type] : from.shape_i32 ? GREATEST.i32 : 1n << 40n;
    const slider = new Slider({ label, low: 1n, high: powerBelow(least(greatest, 1n << 40n)), greatest,
      value: given === null ? least(greatest, axis === null ? DEFAULT_NUMBER : DEFAULT_EXTENT) : BigInt(given),
      hint: axis === null ? `--arg ${from.name}` : `--shape ${from.name}` }, changed);
    slider.is_given = given !== null;
    slider.of = { param: source, axis };
    this.sources.set(key, slider);
    this.sliders.push(slider);
  }

  addPass(changed, kinds) {
    const gated = kinds.has("device") && this.kernel.tasks.some((task) => task.plans.some((plan) => plan.groups.some((group) => group.gate !== "" && group.counted)));
    if (!gated) return;
    this.pass_field = element("output", { class: "code" });
    this.pass = element("input", { type: "range", min: 0, max: 1000, step: 1, value: 1000, "aria-label": "share that passes the gates", "data-name": "pass", input: () => { this.showPass(); changed(); } });
    this.showPass();
  }

  /** The share of iterations that passes the gates, in thousandths; 1000: rows for all, as a launch has that does not count. */
  showPass() {
    this.pass_field.value = this.pass.value === "1000" ? "all" : `${Number(this.pass.value) / 10} %`;
  }

  passShare() {
    if (this.pass !== undefined && this.pass.value !== "1000") return () => Number(this.pass.value) / 1000;
    const shares = this.data.passes;
    if (shares.length === 0) return null;
    return (gate) => {
      const fits = shares.filter((share) => share.gate === "" || gate === share.gate || gate.endsWith(`:${share.gate}`) || gate.endsWith(`/${share.gate}`));
      return fits.length === 0 ? null : fits[fits.length - 1].share;
    };
  }

  /** Takes the values of another kernel's sliders, by their names. */
  follow(other) {
    for (const slider of this.sliders) {
      const twin = this.twinOf(slider, other);
      if (twin !== undefined) slider.value = twin.value;
    }
    if (this.pass !== undefined && other.pass !== undefined) this.pass.value = other.pass.value;
  }

  twinOf(slider, other) {
    return other.sliders.find((one) => one.label === slider.label);
  }

  /** What planLaunch takes; `changes`: values of sliders that differ from what they show. */
  launch(is_cpu, changes = new Map()) {
    const valueOf = (slider) => (changes.has(slider) ? changes.get(slider) : slider.value);
    const scalars = {}, extents = {};
    this.kernel.params.forEach((param, number) => {
      const own = this.given[param.name];
      if (param.kind === "scalar") scalars[number] = own === undefined || own.value === null ? 0n : BigInt(own.value);
      if (param.kind !== "buffer") return;
      const source = shapedLike(this.kernel, this.given, number), shape = this.given[this.kernel.params[source].name];
      extents[number] = Array.from({ length: param.rank }, (_, axis) => {
        const slider = this.sources.get(`${source} ${axis}`);
        return slider !== undefined ? valueOf(slider) : shape !== undefined ? BigInt(shape.extents[axis]) : this.read.has(source) ? DEFAULT_EXTENT : 0n;
      });
    });
    for (const slider of this.sources.values()) {
      if (slider.of.axis === null) scalars[slider.of.param] = valueOf(slider);
    }
    const threads = is_cpu ? this.workers : this.threads;
    const amount = (slider) => (slider ? valueOf(slider) : null);
    return { scalars, extents, workers: threads ? most(valueOf(threads), 1n) : null, budget: amount(this.budget) || 0n,
      segment: this.segment ? amount(this.segment) : null, passes: this.passShare() };
  }

  /** The words of `adc size` that say the same for a target of this kind. */
  words(is_cpu) {
    const words = [], shapes = new Map([...this.read].map((param) => [param, this.kernel.params[param].name]));
    for (const slider of this.sources.values()) {
      const name = this.kernel.params[slider.of.param].name;
      if (slider.of.axis === null) words.push(`--arg ${name}=${slider.value}`);
      else shapes.set(slider.of.param, name);
    }
    if (this.data.checkpoint !== "") words.push(`--checkpoint ${this.data.checkpoint}`);
    const launch = this.launch(is_cpu);
    for (const [param, name] of shapes) words.push(`--shape ${name}=${launch.extents[param].join(",")}`);
    const threads = is_cpu || !this.threads ? this.workers : this.threads;
    if (threads) words.push(`--threads ${threads.value}`);
    if (launch.budget > 0n) words.push(`--budget ${launch.budget}`);
    if (this.pass !== undefined && this.pass.value !== "1000") words.push(`--pass ${Number(this.pass.value) / 1000}`);
    return words;
  }

  element() {
    const pass = this.pass === undefined ? null : element("label", { class: "slider", title: "--pass, on devices" }, element("span", { class: "name code" }, "pass the gates"), this.pass, this.pass_field);
    return element("div", { class: "sliders" }, this.sliders.map((slider) => slider.row), pass);
  }
}
