// What a launch takes, computed as the loader plans it before it reads a buffer: iterations, rows, bytes of the heap, within a
// budget, with checkpoints. The test of these pages compares it with `adc size`. Numbers are BigInts.

const UINT64_MAX = (1n << 64n) - 1n, HEAP_MAX = INT64_MAX;
const SCALAR_BYTES = { i1: 1n, i8: 1n, i16: 2n, i32: 4n, i64: 8n, u8: 1n, u16: 2n, u32: 4n, u64: 8n, f16: 2n, f32: 4n, f64: 8n };
const LONGEST_SEGMENT = 1n << 30n, MANY_GATED_ROWS = 64n << 20n, MOST_WORKERS = 1n << 24n, FEWEST_SHARING = 4n;

/** A launch that the loader refuses; `needed`: bytes that suffice, where it is the budget. Or one that takes too long to
    compute here: the loader may take more steps. */
class Refusal extends Error {
  constructor(text, needed = null, is_too_long = false, overflows = false) {
    super(text);
    this.needed = needed;
    this.is_too_long = is_too_long;
    this.overflows = overflows;
  }
}

function sizeRefusal(failure, what) {
  switch (failure.reason) {
    case "steps": return new Refusal(`${what} takes too long to compute here: adc size does it`, null, true);
    case "overflow": return new Refusal(`${what} does not fit 64 bits`, null, false, true);
    default: return new Refusal(`${what} takes a value that does not exist`);
  }
}

const alignUp = (value, unit) => (value + unit - 1n) / unit * unit;
const least = (left, right) => (left < right ? left : right);
const most = (left, right) => (left > right ? left : right);
const tooLarge = () => new Refusal("its size does not fit 64 bits", null, false, true);
/** What 64 bits hold, or UINT64_MAX. */
const clamped = (value) => least(value, UINT64_MAX);

function rulesOf(kind, lanes) {
  const is_gpu = kind !== "cpu";
  return { lanes: BigInt(Math.max(1, lanes)), stride: is_gpu ? 8n : 64n, offset: is_gpu ? 256n : 64n, is_gpu,
    words_in_heap: kind === "vulkan", has_table: kind === "cuda" || kind === "hip" };
}

function cellsOf(param) {
  if (param.kind === "buffer" || param.kind === "scratch") return 1 + param.rank;
  return param.kind === "scalar" ? param.rows * param.columns : 1;
}

function elementBytes(param) {
  return SCALAR_BYTES[param.type] * BigInt(param.rows) * BigInt(param.columns);
}

function stackBytes(stack, capacity) {
  return (stack.bits ? (capacity + 31n) / 32n : capacity) * SCALAR_BYTES[stack.type];
}

const inRow = (stack) => stack.storage === "row";
const isElsewhere = (stack) => stack.storage === "saved" || stack.storage === "promise";
const isCopy = (stack) => inRow(stack) && stack.param >= 0;
const isClaimed = (group, rules) => rules.is_gpu && group.gate !== "";

/** One task of a launch that is being planned. */
class TaskSizer {
  constructor(launch, task) {
    this.launch = launch;
    this.meta = task;
    this.plan = launch.planOf(task);
    this.rules = rulesOf(launch.target.kind, this.plan === null ? 1 : this.plan.lanes);
    this.can_count = task.size_kernel !== "" && launch.kernels.has(task.size_kernel);
    this.isCounted = (stack) => stack.counted || (stack.capacity < 0 && task.size_kernel !== "");
    const writes = (param) => this.launch.mayWrite(param);
    this.must_count = this.plan !== null && this.can_count && this.plan.stacks.some((stack) => stack.capacity < 0);
    this.counts_late = task.count_reads.some((param) => launch.kernel.params[param].kind === "scratch" || (launch.kernel.tasks.indexOf(task) > 0 && writes(param)));
    this.is_late = (task.trip_kernel !== "" && task.trip_reads.some(writes)) || task.size_reads.some(writes) || (this.must_count && this.counts_late);
    this.counts = null;
    this.counts_instead = false;
    this.segment = 0n;
    this.reset();
  }

  reset() {
    Object.assign(this, { settled: false, total: 0n, threads: 0n, wanted: 0n, rows: 0n, row_bytes: 0n, heap_bytes: 0n, copied: 0n, copies: 0, by_count: false });
    this.stacks = this.plan === null ? [] : this.plan.stacks.map(() => ({ capacity: 0n, bytes: 0n }));
    this.groups = this.plan === null ? [] : this.plan.groups.map(() => ({ rows: 0n, stride: 0n }));
  }

  /** Sizes it with a number of iterations between checkpoints; 0: whole tapes. Where expressions say what no launch can
      have, stacks that can be counted are, from then on. */
  size(segment) {
    this.segment = segment;
    this.launch.setSegment(segment);
    try {
      this.settled = this.sizes();
    } catch (refusal) {
      const may_fit = refusal instanceof Refusal && refusal.needed !== null && this.launch.has_segment;
      if (may_fit || !this.countInstead(refusal)) throw refusal;
      this.settled = this.sizes();
    }
  }

  sizes() {
    this.reset();
    if (!this.iterations()) return false;
    this.threads = least(this.total, this.launch.workers);
    return this.plan === null || this.capacities();
  }

  /** Whether a refusal of what expressions say makes the task one that is counted. */
  countInstead(refusal) {
    const overflows = refusal instanceof Refusal && refusal.overflows;
    if (this.plan === null || this.counts_instead || !this.can_count || !(refusal instanceof Refusal)) return false;
    if (!overflows && refusal.needed === null) return false;
    if (!this.plan.stacks.some((stack) => stack.counted && (stack.loose || overflows))) return false;
    this.counts_instead = this.must_count = true;
    this.is_late ||= this.counts_late;
    return true;
  }

  /** The value of an expression; null where contents of buffers say it. */
  value(id, what) {
    if (this.launch.expressions.readsContents(id)) return null;
    const value = this.launch.evaluate(id);
    if (!(value instanceof SizeFailure)) return value;
    throw sizeRefusal(value, what);
  }

  iterations() {
    if (this.meta.trip_kernel !== "") return false;
    let total = 1n;
    for (const id of this.meta.extents) {
      const extent = this.value(id, "its number of iterations");
      if (extent === null) return false;
      total *= most(extent, 0n);
    }
    if (total > INT64_MAX) throw tooLarge();
    this.total = total;
    return true;
  }

  /** What the stacks of the task hold, and bytes; false where that is open. */
  capacities() {
    let open = 0;
    for (const [index, stack] of this.plan.stacks.entries()) {
      const countable = (isElsewhere(stack) ? stack.counted : this.isCounted(stack)) && this.can_count;
      const by_counts = (stack.capacity < 0 && !isElsewhere(stack)) || (countable && !stack.loose);
      const place = this.stacks[index];
      if (by_counts && this.counts !== null && stack.id < this.counts.length) {
        place.capacity = this.counts[stack.id];
        continue;
      }
      if (isElsewhere(stack) && !countable && stack.capacity < 0) {
        place.capacity = null;
        continue;
      }
      if (stack.capacity < 0 || (countable && this.counts_instead)) {
        ++open;
        continue;
      }
      const capacity = this.value(stack.capacity, `the capacity of the adstack at ${stack.place}`);
      if (capacity === null) return false;
      place.capacity = most(capacity, 0n);
      if (isCopy(stack)) {
        this.copied += place.capacity;
        ++this.copies;
      }
    }
    this.layOut();
    if (open > 0 && this.total > 0n) return false;
    const threads = this.threads;
    this.fitDevice();
    if (this.counts !== null) {
      this.by_count = true;
      this.threads = threads;
      this.layOut();
      this.fitDevice();
    }
    this.fitBudget();
    this.settle();
    return true;
  }

  /** Bytes of the rows: stacks in order, those that share with the first of them. */
  layOut() {
    for (const group of this.groups) group.stride = 0n;
    const shared = new Set();
    for (const [index, stack] of this.plan.stacks.entries()) {
      if (!inRow(stack)) continue;
      let bytes = stackBytes(stack, this.stacks[index].capacity), alignment = SCALAR_BYTES[stack.type];
      this.stacks[index].bytes = bytes;
      if (stack.share >= 0) {
        const key = `${stack.group} ${stack.share}`;
        if (shared.has(key)) continue;
        shared.add(key);
        for (const [other, twin] of this.plan.stacks.entries()) {
          if (!inRow(twin) || twin.share !== stack.share || twin.group !== stack.group) continue;
          bytes = most(bytes, stackBytes(twin, this.stacks[other].capacity));
          alignment = most(alignment, SCALAR_BYTES[twin.type]);
        }
      }
      const group = this.groups[stack.group];
      group.stride = alignUp(group.stride, alignment) + bytes;
    }
    this.row_bytes = 0n;
    for (const group of this.groups) {
      group.stride = alignUp(group.stride, this.rules.stride);
      this.row_bytes += group.stride;
    }
    if (this.row_bytes > UINT64_MAX) throw tooLarge();
  }

  base() {
    return this.is_late ? 0n : this.launch.base;
  }

  counterBytes() {
    return alignUp(4n * BigInt(this.plan.groups.filter((group) => isClaimed(group, this.rules)).length), this.rules.offset);
  }

  rowsOf(group, threads) {
    let rows = threads;
    const meta = this.plan.groups[group];
    if (this.by_count && isClaimed(meta, this.rules) && meta.counted) {
      rows = least(rows, most(this.counts[this.plan.stacks.length + group] || 0n, 0n));
      if (rows === 0n && threads > 0n) rows = 1n;
    }
    return alignUp(rows, this.rules.lanes);
  }

  bytesOf(threads) {
    return clamped(this.groups.reduce((sum, group, number) => sum + this.rowsOf(number, threads) * group.stride, 0n));
  }

  lowerThreads(available) {
    if (this.bytesOf(this.threads) <= available) return;
    let fit = 0n, too_many = this.threads / this.rules.lanes + 1n;
    while (too_many - fit > 1n) {
      const middle = fit + (too_many - fit) / 2n;
      if (this.bytesOf(middle * this.rules.lanes) <= available) fit = middle;
      else too_many = middle;
    }
    this.threads = fit * this.rules.lanes;
  }

  hasUngated() {
    return this.plan.stacks.some((stack) => inRow(stack) && this.plan.groups[stack.group].gate === "");
  }

  fitDevice() {
    if (!this.rules.is_gpu || this.row_bytes === 0n || this.threads === 0n || this.hasUngated()) return;
    const own = this.launch.workers / this.rules.lanes * this.rules.lanes;
    this.lowerThreads(most(this.bytesOf(least(own, this.threads)), MANY_GATED_ROWS));
    if (this.threads === 0n) this.threads = least(this.total, this.rules.lanes);
  }

  fitBudget() {
    if (this.copies > 0 && this.copied === 0n && this.threads > 0n && this.threads < FEWEST_SHARING) this.threads = 1n;
    this.wanted = this.threads;
    const fixed = this.base() + this.counterBytes(), budget = this.launch.budget;
    const available = budget === 0n ? UINT64_MAX : most(budget - fixed, 0n);
    this.lowerThreads(available);
    if (this.copied > 0n && this.threads <= 1n) {
      for (const place of this.stacks.slice(this.stacks.length - this.copies)) place.capacity = 0n;
      this.copied = 0n;
      this.layOut();
      this.threads = this.wanted > 0n ? 1n : 0n;
      this.lowerThreads(available);
    }
    if (this.threads > 0n || this.wanted === 0n) return;
    const needed = this.row_bytes * this.rules.lanes + fixed;
    if (needed > UINT64_MAX) throw tooLarge();
    throw new Refusal(`one row does not fit a budget of ${grouped(budget)} bytes, ${grouped(needed)} suffice`, needed);
  }

  settle() {
    let end = this.base() + this.counterBytes();
    for (const [number, group] of this.groups.entries()) {
      group.rows = this.rowsOf(number, this.threads);
      this.rows = most(this.rows, group.rows);
      end = alignUp(end + group.rows * group.stride, this.rules.offset);
    }
    if (end > HEAP_MAX) throw tooLarge();
    this.heap_bytes = end - this.base();
  }

  /** Whether enough threads have rows. */
  hasRows() {
    return this.settled && (this.launch.budget === 0n || this.threads * 2n >= this.wanted);
  }

  /** The refusal of a size that the budget is too small for; null where it fits. */
  attempt(segment) {
    try {
      this.size(segment);
      return null;
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.needed === null) throw refusal;
      return refusal;
    }
  }

  /** Sizes it with whole tapes, or, where they leave too few rows, with the length that makes the smallest rows. */
  choose() {
    if (!this.launch.has_segment || this.must_count) return this.size(0n);
    const refusal = this.attempt(0n);
    if (refusal === null && (!this.settled || this.hasRows())) return;
    let smallest = this.row_bytes, best = 0n;
    for (let length = LONGEST_SEGMENT; length > 0n; length /= 2n) {
      const refused = this.attempt(length);
      if (refused === null && !this.settled) return this.size(0n);
      if (best !== 0n && this.row_bytes / 4n > smallest) break;
      if (this.row_bytes >= smallest) continue;
      smallest = this.row_bytes;
      best = length;
    }
    this.size(best);
  }

  /** As if so many iterations passed the gate of each group in `passes`, [group, iterations]. */
  assume(passes) {
    for (const [group, iterations] of passes) {
      if (!this.plan.groups[group].counted || this.must_count || !this.can_count) continue;
      if (this.counts === null) this.counts = new Array(this.plan.stacks.length + this.plan.groups.length).fill(INT64_MAX);
      this.counts[this.plan.stacks.length + group] = iterations;
      this.choose();
    }
  }
}

/** A launch of a kernel on a target. `given`: scalars and extents by parameter, workers, budget (0: none), segment (null: the
    loader's choice), passes (a function of a gate's place: the share of iterations that passes, or null), values (a Map that launches with the same
    scalars and extents share). */
class Launch {
  constructor(data, kernel, target_number, given) {
    this.kernel = kernel;
    this.number = target_number;
    this.target = data.metadata.targets[target_number];
    this.kernels = new Set(data.metadata.kernels.map((one) => one.name));
    this.expressions = expressionsOf(kernel);
    this.scalars = { ...given.scalars };
    this.values = given.values;
    this.extents = given.extents;
    this.workers = least(given.workers || (this.target.kind === "cpu" ? 1n : 65536n), MOST_WORKERS);
    this.budget = given.budget;
    this.segment_param = kernel.params.findLastIndex((param) => param.kind === "segment");
    this.has_segment = this.segment_param >= 0;
    this.setSegment(0n);
    this.rules = rulesOf(this.target.kind, 1);
    const alias_written = kernel.params.some((param) => param.alias && param.access !== "read");
    this.mayWrite = (index) => {
      const param = kernel.params[index];
      return param.kind === "scratch" || param.access !== "read" || (param.alias && alias_written);
    };
    this.plan(given);
  }

  planOf(task) {
    const entry = task.entries.find((one) => one.target === this.number);
    return entry === undefined || entry.plan < 0 ? null : task.plans[entry.plan];
  }

  setSegment(length) {
    if (this.has_segment) this.scalars[this.segment_param] = length;
  }

  /** Launches with the same numbers and shapes share what they evaluate. */
  evaluate(id) {
    const key = `${id} ${this.has_segment ? this.scalars[this.segment_param] : ""}`;
    if (!this.values.has(key)) this.values.set(key, this.expressions.evaluate(id, this));
    return this.values.get(key);
  }

  scratchBytes() {
    let cursor = 0n;
    for (const param of this.kernel.params.filter((one) => one.kind === "scratch")) {
      let bytes = elementBytes(param);
      for (const id of param.extents) {
        const extent = this.evaluate(id);
        if (extent instanceof SizeFailure) throw sizeRefusal(extent, `the size of scratch '${param.name}'`);
        bytes *= most(extent, 0n);
      }
      cursor = alignUp(cursor + bytes, this.rules.offset);
      if (cursor > HEAP_MAX) throw new Refusal("scratch does not fit 64 bits");
    }
    return cursor;
  }

  /** Bytes of the heap that hold a task's words. */
  wordBytes(task) {
    const plan = this.planOf(task), last = this.kernel.params[this.kernel.params.length - 1];
    const cells = last === undefined ? 0 : last.cell + cellsOf(last);
    const adstack = plan === null ? 0 : plan.groups.length * (this.rules.is_gpu ? 4 : 2) + 2 * plan.stacks.filter(inRow).length;
    const words = this.rules.is_gpu ? cells + adstack + 4 : adstack;
    if (this.rules.words_in_heap) return BigInt(8 * words);
    const table = this.rules.has_table && words > 511 ? words - 506 - 4 : 0;
    return BigInt(Math.ceil(table / 128) * 128 * 8);
  }

  plan(given) {
    this.scratch = this.scratchBytes();
    this.base = this.scratch;
    for (const task of this.kernel.tasks) this.base = alignUp(this.base + this.wordBytes(task), this.rules.offset);
    this.tasks = this.kernel.tasks.map((task) => new TaskSizer(this, task));
    let refused = null;
    for (const task of this.tasks) {
      try {
        if (given.segment === null || !this.has_segment) task.choose();
        else task.size(given.segment);
      } catch (refusal) {
        if (!(refusal instanceof Refusal) || refusal.needed === null) throw refusal;
        if (refused === null || refusal.needed >= refused.needed) refused = refusal;
      }
    }
    if (refused !== null) throw refused;
    this.checkBudget();
    for (const task of this.tasks) this.assume(task, given.passes);
    this.resolved = this.tasks.every((task) => task.settled);
    this.heap = this.heapBytes();
  }

  heapBytes() {
    return this.base + this.tasks.reduce((largest, task) => (task.is_late ? largest : most(largest, task.heap_bytes)), 0n);
  }

  checkBudget() {
    if (this.tasks.some((task) => !task.is_late && !task.settled)) return;
    const bytes = this.heapBytes();
    if (this.budget === 0n || bytes <= this.budget) return;
    throw new Refusal(`its heap takes ${grouped(bytes)} bytes, more than the ${grouped(this.budget)} of its budget`, bytes);
  }

  assume(task, passes) {
    if (task.plan === null || passes === null) return;
    const shares = task.plan.groups.map((group, number) => [number, group.gate === "" ? null : passes(group.gate)]).filter(([, share]) => share !== null);
    task.assume(shares.map(([number, share]) => [number, BigInt(Math.ceil(Number(task.total) * share))]));
  }
}

const EXPRESSIONS = new Map();

function expressionsOf(kernel) {
  if (!EXPRESSIONS.has(kernel)) EXPRESSIONS.set(kernel, new Expressions(kernel.exprs));
  return EXPRESSIONS.get(kernel);
}

/** What a launch takes, or {refusal} with the reason for which the loader refuses it. */
function planLaunch(data, kernel, target_number, given) {
  try {
    return new Launch(data, kernel, target_number, given);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { refusal };
  }
}
