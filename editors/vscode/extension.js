// Starts `adc lsp` for texts of the IR, and for shaders, of which it looks at those with marks.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("adc");
  const server = { command: settings.get("path"), args: ["lsp", ...settings.get("arguments")] };
  client = new LanguageClient("adc", server, { documentSelector: [{ language: "adc" }, { pattern: "**/*.{comp,glsl,hlsl}" }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
