// Stands for Visual Studio Code: loads the extension in editors/vscode, opens files, and prints as JSON what it would show.
//
//     node vscode_host.js EXTENSION SETTINGS FILE...
//
// SETTINGS is JSON, of settings that the user has made. Of VS Code's interface there is what the extension uses: another
// part of it is an error. The client for language servers is a small one of the same interface.

const { spawn } = require("child_process");
const fs = require("fs");
const Module = require("module");
const path = require("path");

const [folder, settings, ...files] = process.argv.slice(2);
const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
const given = JSON.parse(settings);

/** An object that has `members` and no others. */
function strict(name, members) {
  return new Proxy(members, {
    get: (target, key) => {
      if (typeof key === "symbol" || key in target) return target[key];
      throw new Error(`${name}.${key} is not part of this stand-in`);
    },
  });
}

function setting(key) {
  const property = manifest.contributes.configuration.properties[key];
  if (property === undefined) throw new Error(`package.json has no setting ${key}`);
  return key in given ? given[key] : property.default;
}

const vscode = strict("vscode", {
  workspace: strict("vscode.workspace", {
    getConfiguration: (section) => strict("configuration", { get: (key) => setting(`${section}.${key}`) }),
  }),
});

/** Whether a pattern of the forms "*.x" and "**\/*.{x,y}" takes a file. */
function matches(pattern, file) {
  const parts = /^(?:\*\*\/)?\*\.(?:\{([\w,]+)\}|(\w+))$/.exec(pattern);
  if (parts === null) throw new Error(`a pattern that this stand-in does not read: ${pattern}`);
  return (parts[1] || parts[2]).split(",").includes(path.extname(file).slice(1));
}

/** The language that VS Code gives a file: those of this extension, and the one for shaders that it comes with. */
function languageOf(file) {
  const own = manifest.contributes.languages.find((language) => language.extensions.includes(path.extname(file)));
  if (own !== undefined) return own.id;
  return path.extname(file) === ".hlsl" ? "hlsl" : "plaintext";
}

/** Whether VS Code starts the extension where `file` is opened; contributed languages need no event since 1.74. */
function starts(file) {
  if (manifest.contributes.languages.some((language) => language.id === languageOf(file))) return true;
  return manifest.activationEvents.some((event) => {
    const [kind, text] = [event.slice(0, event.indexOf(":")), event.slice(event.indexOf(":") + 1)];
    if (kind === "onLanguage") return text === languageOf(file);
    if (kind === "workspaceContains") return matches(text, file);
    throw new Error(`an event that this stand-in does not know: ${event}`);
  });
}

class LanguageClient {
  constructor(...words) {  // [id,] name, server, options
    [this.server, this.options] = words.slice(words.length === 4 ? 2 : 1);
    if (words.length < 3 || !Array.isArray(this.options.documentSelector)) throw new Error("a client of no documents");
    LanguageClient.last = this;
    this.waiting = new Map();
    this.published = new Map();
    this.received = Buffer.alloc(0);
  }

  async start() {
    this.process = spawn(this.server.command, this.server.args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve, reject) => { this.process.on("error", reject); this.process.on("exit", resolve); });
    this.process.stdout.on("data", (data) => this.take(data));
    const answer = this.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
    this.initialized = await Promise.race([answer, this.ended.then((code) => { throw new Error(`the server ends with ${code}`); })]);
    this.send({ method: "initialized", params: {} });
  }

  async stop() {
    await this.request("shutdown");
    this.send({ method: "exit" });
    return this.ended;
  }

  takes(file) {
    return this.options.documentSelector.some((filter) =>
      (filter.language === undefined || filter.language === languageOf(file)) && (filter.pattern === undefined || matches(filter.pattern, file)));
  }

  /** The messages of a file that the client tells the server about. */
  open(file) {
    const uri = `file://${path.resolve(file)}`;
    const shown = new Promise((resolve) => this.published.set(uri, resolve));
    this.send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: languageOf(file), version: 1, text: fs.readFileSync(file, "utf8") } } });
    return shown;
  }

  request(method, params) {
    const id = this.waiting.size + 1;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  send(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  take(data) {
    this.received = Buffer.concat([this.received, data]);
    for (;;) {
      const end = this.received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const size = Number(/Content-Length: (\d+)/.exec(this.received.subarray(0, end).toString())[1]);
      if (this.received.length < end + 4 + size) return;
      const message = JSON.parse(this.received.subarray(end + 4, end + 4 + size).toString());
      this.received = this.received.subarray(end + 4 + size);
      if (message.method === "textDocument/publishDiagnostics") {
        this.published.get(message.params.uri)(message.params.diagnostics);
      } else {
        const { resolve, reject } = this.waiting.get(message.id);
        if (message.error === undefined) resolve(message.result); else reject(new Error(message.error.message));
      }
    }
  }
}

const stands = { vscode, "vscode-languageclient/node": strict("vscode-languageclient/node", { LanguageClient }) };
const load = Module._load;
Module._load = (name, ...more) => (name in stands ? stands[name] : load(name, ...more));

async function main() {
  const extension = require(path.join(folder, manifest.main));
  await extension.activate();
  const client = LanguageClient.last, seen = {};
  for (const file of files) {
    const taken = client.takes(file);
    seen[path.basename(file)] = { language: languageOf(file), starts: starts(file), taken, messages: taken ? await client.open(file) : null };
  }
  const code = await extension.deactivate();
  console.log(JSON.stringify({ server: client.initialized.serverInfo, args: client.server.args, files: seen, code }));
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
