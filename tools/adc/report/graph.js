// A kernel's tasks in order, barriers between them, and the buffers that each reads and writes.

const LANE = 74, LANES_LEFT = 330, TASK_HEIGHT = 46, TASK_GAP = 26;

/** Whether a task reads and writes a parameter; null where nothing says it. */
function taskUse(kernel, task, param) {
  const known = kernel.tasks[task];
  return known.reads === undefined ? null : { reads: known.reads.includes(param), writes: known.writes.includes(param) };
}

function memoryParams(kernel) {
  return kernel.params.map((param, number) => number).filter((number) => ["buffer", "layout", "scratch"].includes(kernel.params[number].kind));
}

/** A mark on a buffer's lane: a ring is read, a disc is written, a disc in a ring both. */
function useMark(x, y, use, text) {
  const parts = [];
  if (use.reads) parts.push(drawn("circle", { class: "reads", cx: x, cy: y, r: 8 }));
  if (use.writes) parts.push(drawn("circle", { class: "writes", cx: x, cy: y, r: use.reads ? 4.5 : 6.5 }));
  return drawn("g", {}, drawn("title", {}, text), parts);
}

function useText(use) {
  return use.reads && use.writes ? "reads and writes" : use.writes ? "writes" : "reads";
}

function laneOf(kernel, param, x, top, bottom) {
  const meta = kernel.params[param], scratch = meta.kind === "scratch" ? " (scratch)" : "";
  return [drawn("line", { class: "lane", x1: x, x2: x, y1: top, y2: bottom }),
    drawn("text", { class: "lane-name", transform: `translate(${x + 4} ${top - 8}) rotate(-38)` }, `%${meta.name}${scratch}`)];
}

function graphPicture(kernel) {
  const params = memoryParams(kernel).filter((param) => kernel.tasks.some((_, task) => { const use = taskUse(kernel, task, param); return use.reads || use.writes; }));
  const longest = Math.max(0, ...params.map((param) => kernel.params[param].name.length));
  const top = 30 + Math.ceil(longest * 5.2), bottom = top + kernel.tasks.length * (TASK_HEIGHT + TASK_GAP);
  const width = LANES_LEFT + Math.max(1, params.length) * LANE + 90, parts = [];
  params.forEach((param, at) => parts.push(...laneOf(kernel, param, LANES_LEFT + 40 + at * LANE, top, bottom - TASK_GAP)));
  kernel.tasks.forEach((task, number) => {
    const y = top + number * (TASK_HEIGHT + TASK_GAP), middle = y + TASK_HEIGHT / 2;
    if (number > 0) {
      parts.push(drawn("line", { class: "barrier", x1: 8, x2: width - 90, y1: y - TASK_GAP / 2, y2: y - TASK_GAP / 2 }), drawn("text", { class: "barrier-name", x: width - 84, y: y - TASK_GAP / 2 + 4 }, "barrier"));
    }
    parts.push(drawn("rect", { class: "task", x: 8, y, width: LANES_LEFT - 24, height: TASK_HEIGHT, rx: 7 }),
      drawn("text", { class: "task-name", x: 20, y: y + 19 }, `task ${number}: ${task.kind}`), drawn("text", { class: "task-place", x: 20, y: y + 36 }, task.place));
    params.forEach((param, at) => {
      const use = taskUse(kernel, number, param);
      if (use.reads || use.writes) parts.push(useMark(LANES_LEFT + 40 + at * LANE, middle, use, `task ${number} ${useText(use)} %${kernel.params[param].name}`));
    });
  });
  return drawn("svg", { class: "graph", viewBox: `0 0 ${width} ${bottom - TASK_GAP + 10}`, width, height: bottom - TASK_GAP + 10, role: "img" }, parts);
}

function graphPart(kernel) {
  if (kernel.tasks.length === 0) return null;
  const head = element("h3", {}, "Tasks and buffers");
  if (kernel.tasks[0].reads === undefined) {
    const params = memoryParams(kernel).map((param) => kernel.params[param]);
    return [head, element("p", { class: "small" }, `${counted(kernel.tasks.length, "task")}${kernel.tasks.length > 1 ? ", one after the other, with a barrier between each two" : ""}. The kernel uses `,
      params.map((param, at) => [at > 0 ? ", " : "", element("code", {}, `%${param.name}`), ` (${param.access === "readwrite" ? "read and written" : param.access === "write" ? "written" : "read"})`]),
      element("span", { class: "quiet" }, ". Which task uses which, a bundle of this format does not say: compile it again with a newer adc."))];
  }
  return [head, element("div", { class: "scroll" }, graphPicture(kernel)), element("p", { class: "quiet small" }, "A ring: the task reads the buffer. A disc: it writes. Both: it does both, or sums into it.")];
}
