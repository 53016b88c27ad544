// Elements, and numbers for people.

/** An element of HTML. Children are texts, elements, or lists of them; what is null is left out. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

/** "12,345" */
function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 value", "2 values" */
function counted(number, what) {
  return `${grouped(number)} ${what}${Number(number) === 1 ? "" : "s"}`;
}

/** "4 B", "1.5 MiB": at most three digits before the point, one behind it. */
function humanBytes(bytes) {
  let value = Number(bytes), unit = 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  const digits = unit === 0 || value >= 100 || Number.isInteger(value) ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** The same with the exact number beside it. */
function bytesElement(bytes, attributes) {
  return element("span", { title: `${grouped(bytes)} bytes`, ...attributes }, humanBytes(bytes));
}

/** "4 B", "1 bit", "4 B + 3 bits" */
function humanBits(bits) {
  const parts = [];
  if (bits >= 8) parts.push(humanBytes(Math.floor(bits / 8)));
  if (bits % 8 !== 0) parts.push(counted(bits % 8, "bit"));
  return parts.join(" + ");
}

/** "+25 %", "the same", of two numbers; null where one of them is unknown. */
function changeText(before, after) {
  if (before === null || before === undefined || after === null || after === undefined) return null;
  const [first, last] = [Number(before), Number(after)];
  if (first === last) return "the same";
  if (first === 0) return "new";
  const percent = 100 * (last / first - 1), text = percent.toFixed(Math.abs(percent) < 10 ? 1 : 0);
  return `${percent > 0 ? "+" : ""}${text.replace("-", "\u2212")} %`;
}

/** What was before, and the change, behind a figure. */
function changeElement(before, after) {
  const text = changeText(before, after);
  if (text === null) return null;
  const kind = text === "the same" ? "quiet" : Number(after) > Number(before) ? "more" : "less";
  return element("span", { class: `change ${kind}` }, kind === "quiet" ? ` ${text} as before` : ` ${text}, before ${humanBytes(before)}`);
}

/** Bars on one scale, in rows {name, number, label, before}; `number` null: unknown. Where some row says what was before, a thin
    bar above shows it. */
function bars(rows) {
  const largest = Math.max(0, ...rows.flatMap((row) => [Number(row.number || 0), Number(row.before || 0)]));
  const fill = (number, style) => {
    const made = element("div", { class: style });
    const share = largest > 0 ? Number(number || 0) / largest : 0;
    made.style.width = `${share > 0 ? Math.max(.3, 100 * share) : 0}%`;
    return made;
  };
  return element("div", { class: "bars" }, rows.map((row) => {
    const has_before = row.before !== null && row.before !== undefined;
    return [element("div", {}, row.name), element("div", { class: "track" }, has_before ? fill(row.before, "fill before") : null, fill(row.number, "fill")),
      element("div", { class: "label" }, row.label, has_before ? changeElement(row.before, row.number) : null)];
  }));
}

/** A table with a head; cells are texts or elements, and {number: text} stands right. */
function table(head, rows) {
  const cell = (kind) => (content) => {
    const is_number = content !== null && typeof content === "object" && "number" in content && !(content instanceof Node);
    return element(kind, { class: is_number ? "number" : null }, is_number ? content.number : content);
  };
  return element("div", { class: "scroll" }, element("table", { class: "table" },
    element("thead", {}, element("tr", {}, head.map(cell("th")))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell("td")))))));
}
