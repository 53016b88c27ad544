// Size expressions of a bundle's metadata (artifact-format/README.md), evaluated as the loader does it: on 64-bit integers,
// checked, nodes in order, and what fails is taken for a failure only where it is used.

const INT64_MAX = (1n << 63n) - 1n, INT64_MIN = -(1n << 63n);

/** Why a size is not known: "overflow", "contents", "operand", "steps". */
class SizeFailure {
  constructor(reason) {
    this.reason = reason;
  }
}

/** Nodes evaluated for one figure: more than this takes too long while a slider moves. */
const MOST_STEPS = 1 << 19;

/** A number that a double does not hold exactly. */
const UNSAFE = new Error("not exact");

/** The operations on one kind of numbers: doubles as long as they are exact, which is fast, else BigInts. */
function operationsOn(number, quotient, checked) {
  const zero = number(0), one = number(1), flag = (holds) => (holds ? one : zero);
  const floor = (left, right) => (left % right !== zero && (left < zero) !== (right < zero) ? quotient(left, right) - one : quotient(left, right));
  const divided = (by) => (left, right) => (right === zero ? zero : checked(by(left, right)));
  return {
    zero, one, number, checked,
    add: (left, right) => checked(left + right),
    sub: (left, right) => checked(left - right),
    mul: (left, right) => checked(left * right),
    div: divided(quotient),
    mod: divided((left, right) => left - floor(left, right) * right),
    floordiv: divided(floor),
    ceil_div: divided((left, right) => (right < zero ? zero : quotient(left, right) + flag(left % right > zero))),
    min: (left, right) => (left < right ? left : right),
    max: (left, right) => (left > right ? left : right),
    eq: (left, right) => flag(left === right),
    ne: (left, right) => flag(left !== right),
    lt: (left, right) => flag(left < right),
    le: (left, right) => flag(left <= right),
    gt: (left, right) => flag(left > right),
    ge: (left, right) => flag(left >= right),
    neg: (value) => checked(-value),
    clamp0: (value) => (value > zero ? value : zero),
  };
}

function safe(value) {
  if (!Number.isSafeInteger(value)) throw UNSAFE;
  return value;
}

const FAST = operationsOn((value) => safe(Number(value)), (left, right) => (left - left % right) / right, safe);
const EXACT = operationsOn(BigInt, (left, right) => left / right, (value) => (value > INT64_MAX || value < INT64_MIN ? new SizeFailure("overflow") : value));
const LEAVES = new Set(["const", "arg", "shape", "index"]);

const isLoop = (node) => node[0] === "max_over" || node[0] === "sum_over";

/** A kernel's expressions. */
class Expressions {
  constructor(nodes) {
    this.nodes = nodes;
    this.operands = nodes.map((node) => (LEAVES.has(node[0]) ? [] : node[0] === "read" ? node[2] : isLoop(node) ? node.slice(2) : node.slice(1)));
    this.free = [];
    this.contents = [];
    nodes.forEach((node, id) => {
      let free = node[0] === "index" ? 1 << node[1] : 0;
      for (const operand of this.operands[id]) free |= this.free[operand];
      this.free.push(isLoop(node) ? free & ~(1 << node[1]) : free);
      this.contents.push(node[0] === "read" || this.operands[id].some((operand) => this.contents[operand]));
    });
    this.is_loop = nodes.map(isLoop);
    this.programs = new Map();
  }

  /** Whether contents of buffers go into it; -1 is an expression that nobody has. */
  readsContents(root) {
    return root < 0 || this.contents[root];
  }

  reached(top) {
    const marks = new Uint8Array(top + 1);
    marks[top] = 1;
    for (let id = top; id >= 0; --id) {
      if (marks[id] === 1) for (const operand of this.operands[id]) marks[operand] = 1;
    }
    return marks;
  }

  /** The nodes ["arg", param], ["shape", param, axis] and ["read", param, indices] that `root` depends on. */
  leaves(root) {
    if (root < 0) return [];
    const marks = this.reached(root);
    return this.nodes.filter((node, id) => marks[id] === 1 && (node[0] === "arg" || node[0] === "shape" || node[0] === "read"));
  }

  /** What `top` reaches with free levels that lie in `levels` and hold all of `must`, in order. */
  program(top, levels, must) {
    const key = (top * 65536 + levels) * 65536 + must;
    if (!this.programs.has(key)) {
      const marks = this.reached(top), list = [];
      for (let id = 0; id <= top; ++id) {
        if (marks[id] === 1 && (this.free[id] & ~levels) === 0 && (this.free[id] & must) === must) list.push(id);
      }
      this.programs.set(key, list);
    }
    return this.programs.get(key);
  }

  /** A value, or a SizeFailure. `launch.scalars[param]` and `launch.extents[param][axis]` are BigInts. */
  evaluate(root, launch) {
    try {
      return this.evaluateWith(FAST, root, launch);
    } catch (reason) {
      if (reason !== UNSAFE) throw reason;
      return this.evaluateWith(EXACT, root, launch);
    }
  }

  evaluateWith(operations, root, launch) {
    const state = { operations, slots: new Array(root + 1), indices: [], launch, steps: MOST_STEPS };
    if (!this.run(this.program(root, 0, 0), state)) return new SizeFailure("steps");
    const value = state.slots[root];
    return value instanceof SizeFailure ? value : BigInt(value);
  }

  /** False where it takes too many steps. */
  run(program, state) {
    state.steps -= program.length;
    if (state.steps < 0) return false;
    for (const id of program) {
      if (!this.is_loop[id]) state.slots[id] = this.compute(id, state);
      else if (!this.runLoop(id, state)) return false;
    }
    return true;
  }

  runLoop(id, state) {
    const [op, level, low_id, high_id, body] = this.nodes[id], own = 1 << level, { zero, one, add } = state.operations;
    const low = state.slots[low_id], high = state.slots[high_id];
    state.slots[id] = low instanceof SizeFailure ? low : high;
    if (state.slots[id] instanceof SizeFailure) return true;
    const program = this.program(body, this.free[id] | own, own);
    let total = zero;
    for (let index = low; index < high; index += one) {
      if (--state.steps < 0) return false;
      state.indices[level] = index;
      if (!this.run(program, state)) return false;
      const value = state.slots[body];
      if (value instanceof SizeFailure) total = value;
      else if (op === "sum_over") total = add(total, value);
      else if (index === low || value > total) total = value;
      if (total instanceof SizeFailure) break;
    }
    state.slots[id] = total;
    return true;
  }

  compute(id, state) {
    const node = this.nodes[id], op = node[0], { operations, slots } = state;
    if (op === "const") return operations.number(node[1]);
    if (op === "index") return state.indices[node[1]];
    if (op === "read") return new SizeFailure("contents");
    if (op === "arg" || op === "shape") {
      const value = op === "arg" ? state.launch.scalars[node[1]] : (state.launch.extents[node[1]] || [])[node[2]];
      return value === undefined ? new SizeFailure("operand") : operations.number(value);
    }
    const first = slots[node[1]];
    if (first instanceof SizeFailure) return first;
    if (op === "select") return slots[node[first === operations.zero ? 3 : 2]];
    if (node.length === 2) return operations[op](first);
    const second = slots[node[2]];
    return second instanceof SizeFailure ? second : operations[op](first, second);
  }
}
