// The source with its margin: beside each line what gradients store there and compute again, and why.

const WAYS = {
  taped: { tag: "stored", kind: "stored" },
  checkpoint: { tag: "checkpoint", kind: "stored" },
  contents: { tag: "stored", kind: "stored" },
  recomputed: { tag: "recomputed", kind: "again" },
  inverted: { tag: "inverted", kind: "other" },
  read: { tag: "read again", kind: "other" },
};
const WORDS = new Set(("kernel func layout const import parallel for while do if else carry yield return break continue continue_if reversed " +
  "in to diff buffer array vec mat atomic assert print struct class using namespace template typename auto void int uint float double bool " +
  "unsigned long short char static constexpr inline extern volatile uniform in out inout layout shared readonly writeonly switch case default " +
  "def elif lambda and or not None True False from as with pass global nonlocal try except finally raise cbuffer groupshared public private " +
  "true false this operator sizeof new delete let").split(" "));

/** Notes of one file by line, each once where several gradients do the same. */
function notesByLine(notes, file, kernel) {
  const lines = new Map(), seen = new Set();
  for (const note of notes) {
    if (note.file !== file || (kernel !== "" && note.kernel !== kernel)) continue;
    const key = JSON.stringify([note.way, note.name, note.type, note.line, note.column, note.unit_place, note.from]);
    if (isName(note.name) && seen.has(key)) continue;
    seen.add(key);
    if (!lines.has(note.line)) lines.set(note.line, []);
    lines.get(note.line).push(note);
  }
  const order = ["stored", "again", "other"], rank = (note) => order.indexOf(WAYS[note.way].kind);
  for (const list of lines.values()) list.sort((left, right) => rank(left) - rank(right));
  return lines;
}

/** What is stored in an iteration, as a text: "4 B", "8 B + 4 B a segment". */
function storedText(notes) {
  const bits = (way) => notes.filter((note) => note.way === way).reduce((sum, note) => sum + note.bits, 0);
  const parts = [];
  if (bits("taped") > 0) parts.push(humanBits(bits("taped")));
  if (bits("checkpoint") > 0) parts.push(`${humanBits(bits("checkpoint"))} a segment`);
  if (notes.some((note) => note.way === "contents")) parts.push("old contents");
  return parts.join(" + ");
}

/** Whether somebody has named a value so: others have numbers. */
function isName(name) {
  return /^[^\d]/u.test(name);
}

/** Why, in words. */
function reasonText(note) {
  if (note.unit === "") return `${humanBits(note.bits)} an entry of its tape`;  // of a bundle
  const where = `${note.unit} at ${note.unit_place}`;
  switch (note.way) {
    case "taped": return `${humanBits(note.bits)} an iteration of the ${where}: ${note.reason}`;
    case "checkpoint": return `${humanBits(note.bits)} a segment of the ${where}: ${note.reason}`;
    case "contents": return `what iterations of the ${where} overwrite in it`;
    case "inverted": return `undone in the ${where}, no bytes`;
    case "read": return "where the kernel stored it, no bytes";
    default: {
      const names = note.from.filter(isName), from = names.length === 0 ? "" : `from ${names.map((name) => `%${name}`).join(", ")}, `;
      // Of control that runs again one result has the operations of all.
      return note.operations === 0 ? `${from}in the same run, no bytes` : `${from}${counted(note.operations, "operation")}, no bytes`;
    }
  }
}

function noteItem(note) {
  const way = WAYS[note.way];
  const name = !isName(note.name) ? "a value without a name" : element("code", {}, `%${note.name}`);
  return element("li", {}, element("span", { class: `tag ${way.kind}` }, way.tag),
    element("span", {}, name, note.way === "contents" ? "" : ` : ${note.type}`, element("span", { class: "quiet" }, ` \u2014 ${reasonText(note)}`)));
}

/** Names of the gradients, where a line belongs to several. */
function noteList(notes, most) {
  const shown = notes.slice(0, most), items = [];
  const gradients = [...new Set(notes.map((note) => note.kernel))];
  for (const gradient of gradients) {
    const own = shown.filter((note) => note.kernel === gradient);
    if (own.length > 0) items.push(element("li", { class: "quiet" }, element("code", {}, `@${gradient}`)), ...own.map(noteItem));
  }
  if (shown.length < notes.length) items.push(element("li", { class: "quiet" }, `and ${grouped(notes.length - shown.length)} more: click the line`));
  return element("ul", { class: "whys" }, items);
}

/** Pieces [text, class] of a line; `state` says whether it begins inside of a comment of several lines. */
function piecesOf(line, language, state) {
  const pieces = [], comment = language === "py" ? "#" : "//";
  const pattern = /\/\*|\*\/|\/\/.*|#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[%@]?[A-Za-z_][A-Za-z_0-9]*|./gsu;
  for (const [text] of line.matchAll(pattern)) {
    if (state.comment) {
      pieces.push([text, "comment"]);
      state.comment = text !== "*/";
    } else if (text === "/*" && language !== "py") {
      pieces.push([text, "comment"]);
      state.comment = true;
    } else if (text.startsWith(comment)) {
      pieces.push([text, "comment"]);
    } else if (text.length > 1 && (text[0] === "#" || text.startsWith("//"))) {
      pieces.push([text, ""]);
    } else if (text.length > 1 && (text[0] === "\"" || text[0] === "'")) {
      pieces.push([text, "string"]);
    } else {
      pieces.push([text, WORDS.has(text) ? "word" : ""]);
    }
  }
  return pieces;
}

/** The line's text, with the names of values that are stored or computed again marked. */
function codeOf(line, language, state, notes) {
  const kinds = new Map();
  for (const note of notes) {
    const name = note.name.split(".")[0], kind = WAYS[note.way].kind;
    if (isName(name) && kind !== "other" && kinds.get(name) !== "stored") kinds.set(name, kind);
  }
  return piecesOf(line, language, state).map(([text, style]) => {
    const kind = style === "" ? kinds.get(text.replace("%", "")) : undefined;
    if (kind !== undefined) return element("span", { class: `is-${kind}` }, text);
    return style === "" ? text : element("span", { class: style }, text);
  });
}

function showTip(content, x, y) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 14, window.innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > window.innerHeight ? Math.max(8, y - box.height - 10) : y + 18}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

/** Opens or closes the reasons below a line. */
function toggleWhy(row, notes) {
  hideTip();
  const next = row.nextElementSibling;
  if (next !== null && next.classList.contains("open")) return next.remove();
  row.after(element("tr", { class: "open" }, element("td", { colspan: 4 }), element("td", { class: "why" }, noteList(notes, Infinity))));
}

/** One line of the table. `most`: bits of the line that stores most. */
function sourceRow(number, line, language, state, notes, most) {
  const code = element("td", { class: "text code" }, codeOf(line, language, state, notes));
  if (notes.length === 0) {
    return element("tr", {}, element("td", { class: "line code" }, String(number)), element("td"), element("td"), element("td"), code);
  }
  const count = (kind) => notes.filter((note) => WAYS[note.way].kind === kind).length;
  const tag = (kind) => (count(kind) > 0 ? element("span", { class: `tag ${kind}` }, grouped(count(kind))) : null);
  const bits = notes.reduce((sum, note) => sum + note.bits, 0);
  const bar = element("span", { class: "bytebar" });
  bar.style.width = `${most > 0 ? 100 * bits / most : 0}%`;
  const again = [tag("again"), count("other") > 0 ? element("span", { class: "tag other" }, `+${grouped(count("other"))}`) : null];
  const row = element("tr", {
    class: "noted", "data-line": number,
    click: () => window.getSelection().isCollapsed && toggleWhy(row, notes),
    mousemove: (event) => showTip(noteList(notes, 8), event.clientX, event.clientY), mouseleave: hideTip,
  }, element("td", { class: "line code" }, element("button", { "aria-label": `line ${number}: reasons` }, String(number))),
  element("td", { class: "count" }, tag("stored")), element("td", { class: "recount" }, again),
  element("td", { class: "bytes small" }, storedText(notes), bits > 0 ? bar : null), code);
  return row;
}

/** Margin and text of one file. `is_source`: what is computed again is known too. */
function sourceTable(file, lines, is_source) {
  const language = file.name.endsWith(".py") ? "py" : "c", state = { comment: false };
  const texts = file.text.replace(/\r?\n$/, "").split(/\r?\n/);
  const most = Math.max(0, ...[...lines.values()].map((notes) => notes.reduce((sum, note) => sum + note.bits, 0)));
  const head = (is_source ? ["line", "stored", "recomputed", "an iteration", ""] : ["line", "stored", "", "an entry", ""]).map((text, at) =>
    element("th", { class: ["line", "count", "recount", "bytes", ""][at] }, text));
  return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {},
    texts.map((text, at) => sourceRow(at + 1, text, language, state, lines.get(at + 1) || [], most))));
}

/** "3 values stored, 12 B an iteration; 4 recomputed"; of a bundle without the last. */
function summaryText(notes, is_source) {
  const stored = notes.filter((note) => WAYS[note.way].kind === "stored"), again = notes.filter((note) => note.way === "recomputed");
  const bytes = storedText(stored);
  return `${counted(stored.length, "value")} stored${bytes === "" ? "" : `, ${bytes}`}${is_source ? `; ${grouped(again.length)} recomputed` : ""}`;
}

/** What the page of a bundle does not show of its source, and what does. */
function bundleText(data) {
  const whole = ["what is computed again there, and why, the page of the source shows: ", element("code", {}, "adc report kernel.ir")];
  if (data.sources.length > 0) {
    const { name, is_text } = data.sources[0];
    const about = {
      true: "This is the text that the bundle was compiled from. ",
      false: element("strong", { class: "refused" }, `${name} is not the text that the bundle was compiled from: what is noted may stand beside other lines. `),
      null: "The bundle does not say whether this is the text that it was compiled from. ",
    };
    return [about[is_text], "Of a bundle: the values that stand on stacks, beside the lines that they had when it was compiled; ", whole];
  }
  return ["A bundle holds no source. ", element("code", {}, `adc report ${data.title} --show-source kernel.ir`), " shows its text, with what is stored beside each line; ", whole];
}

/** The part of the page about sources; of a bundle what to do for one. */
function sourcePart(data) {
  const title = element("h2", {}, "Source");
  if (data.sources.length === 0) return [title, element("div", { class: "card quiet" }, bundleText(data))];
  const gradients = [...new Set(data.notes.map((note) => note.kernel))];
  const files = element("div", {}), summary = element("span", {});
  const draw = (kernel) => {
    files.replaceChildren(...data.sources.map((file, number) => {
      const lines = notesByLine(data.notes, number, kernel);
      return element("details", { class: "card source", open: number === 0 ? "" : null },
        element("summary", {}, file.name, element("span", { class: "quiet small" }, ` \u2014 ${summaryText([...lines.values()].flat(), data.is_source)}`)),
        sourceTable(file, lines, data.is_source));
    }));
  };
  const choice = gradients.length < 2 ? null : element("label", {}, "gradient ", element("select", { change: (event) => draw(event.target.value) },
    element("option", { value: "" }, "all of them"), gradients.map((name) => element("option", { value: name }, `@${name}`))));
  draw("");
  const none = data.notes.length > 0 ? null : data.is_source ? "No gradient of it stores a value or computes one again." : "No stack holds a value of it.";
  const others = data.is_source ? [element("span", {}, element("span", { class: "tag again" }, "n"), " recomputed in the adjoint sweep"),
    element("span", {}, element("span", { class: "tag other" }, "+n"), " inverted, or read again from memory")] : null;
  return [title, element("div", { class: "legend" }, choice, element("span", {}, element("span", { class: "tag stored" }, "n"), " stored by the primal sweep"), others,
    element("span", {}, "Hover over a line for the reasons; a click keeps them open."), none, summary),
    data.is_source ? null : element("p", { class: "quiet small" }, bundleText(data)), files];
}
