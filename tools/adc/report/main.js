// The page from its data.

/** "7.6 KiB", or with what it was before. */
function factElement(text, before) {
  const changed = before !== undefined && before !== text;
  return element("span", {}, element("b", {}, text), changed ? `, before ${before}` : "");
}

function factsPart(data) {
  const texts = (of) => [humanBytes(of.bundle.bytes), counted(of.metadata.kernels.length, "kernel"), counted(of.bundle.targets, "target")];
  const before = data.before === undefined ? [] : texts(data.before);
  return element("div", { class: "facts" }, texts(data).map((text, at) => factElement(text, before[at])), element("span", {}, `made by ${data.bundle.producer}`));
}

function contentPart(of, title) {
  return element("div", { class: "content code", title }, of.bundle.content);
}

function headPart(data) {
  const before = data.before;
  const title = before === undefined ? data.title : before.title === data.title ? `${data.title}, before and after` : `${before.title} \u2192 ${data.title}`;
  return element("header", {}, element("h1", {}, title), factsPart(data),
    before === undefined ? contentPart(data, "content id of the bundle") : [contentPart(before, "content id before"), contentPart(data, "content id of the bundle")],
    data.given.length === 0 ? element("p", { class: "quiet small" }, "Launches of any shape: ", element("code", {}, "--shape"), " and ", element("code", {}, "--arg"), " say which.")
      : element("p", { class: "small" }, "Launches with ", element("code", {}, data.given.join(" "))));
}

/** Sections of code by "cpu:x86-64 OBJ_". */
function codeSections(data) {
  return new Map(data.code.map((section) => [`${data.metadata.targets[section.target].name} ${section.kind}`, section]));
}

function codePart(data) {
  const now = codeSections(data), before = data.before === undefined ? new Map() : codeSections(data.before);
  const names = [...new Set([...now.keys(), ...before.keys()])];
  const rows = names.map((name) => {
    const section = now.get(name), was = before.get(name);
    const label = section === undefined ? element("span", { class: "gone" }, "gone") : element("span", {}, bytesElement(section.raw), element("span", { class: "quiet" }, ` \u2014 ${humanBytes(section.stored)} stored`));
    return { name, number: section === undefined ? 0 : section.raw, label, before: was === undefined ? null : was.raw };
  });
  return [element("h2", {}, "Code"), element("div", { class: "card" }, bars(rows))];
}

/** Kernels of before that are no more. */
function gonePart(data, kernels) {
  if (data.before === undefined) return null;
  const names = new Set(kernels.map((kernel) => kernel.name));
  const gone = [...new Set(data.before.sizes.map((size) => size.kernel))].filter((name) => !names.has(name));
  return gone.length === 0 ? null : element("p", {}, "Gone: ", gone.map((name, at) => [at > 0 ? ", " : "", element("code", { class: "gone" }, `@${name}`)]));
}

function drawPage(data) {
  const sized = new Set(data.sizes.map((size) => size.kernel));
  const kernels = data.metadata.kernels.filter((kernel) => sized.has(kernel.name));
  const parts = [headPart(data), sourcePart(data), kernels.map((kernel) => kernelPart(data, kernel)), gonePart(data, kernels), codePart(data)];
  document.getElementById("page").append(...parts.flat(Infinity).filter((part) => part !== null));
}

drawPage(JSON.parse(document.getElementById("data").textContent));
