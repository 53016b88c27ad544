#!/usr/bin/env python3
"""The extension for Visual Studio Code loads, starts `adc lsp` for the files that it is for, and shows what that says; its
manifest is one that VS Code takes. Node runs it, with a stand-in for VS Code (vscode_host.js).

usage: vscode.py ADC EXTENSION
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# https://code.visualstudio.com/api/references/extension-manifest
CATEGORIES = {"AI", "Azure", "Chat", "Data Science", "Debuggers", "Education", "Extension Packs", "Formatters", "Keymaps",
              "Language Packs", "Linters", "Machine Learning", "Notebooks", "Other", "Programming Languages", "SCM Providers",
              "Snippets", "Testing", "Themes", "Visualization"}
FILES = {
    "wrong.ir": "kernel @k() {\n  %b = neg %a\n}\n",
    "good.ir": "kernel @k(%x: f32) { }\n",
    "marked.comp": "#version 450\nlayout(set = 0, binding = 0) buffer X { float x[]; };  // adc: diff\n"
                   "void main() { x[0] = y; }\n",
    "marked.hlsl": "RWStructuredBuffer<float> x : register(u0);  // adc: diff\n[numthreads(1, 1, 1)] void main() { x[0] = y; }\n",
    "other.glsl": "void main() { y = 1; }\n",
    "kernel.cpp": "int x\n",
}


def check_manifest(folder):
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    for key in ("name", "version", "publisher", "engines", "license", "displayName", "description", "categories", "main"):
        assert manifest.get(key), f"package.json lacks {key}"
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", manifest["name"]) and re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    wanted = re.fullmatch(r"\^1\.(\d+)\.0", manifest["engines"]["vscode"])
    assert wanted and int(wanted[1]) >= 82, "vscode-languageclient 9 needs VS Code 1.82"
    assert manifest["dependencies"] == {"vscode-languageclient": "^9.0.1"}, manifest["dependencies"]
    assert set(manifest["categories"]) <= CATEGORIES, manifest["categories"]
    contributed = manifest["contributes"]
    languages = {language["id"] for language in contributed["languages"]}
    for event in manifest["activationEvents"]:
        assert re.fullmatch(r"(onLanguage|workspaceContains):.+", event), event
        assert event.removeprefix("onLanguage:") not in languages, f"{event} is implied by the language"
    for language in contributed["languages"]:
        assert all(extension.startswith(".") for extension in language["extensions"])
        assert (folder / language["configuration"]).is_file()
    for grammar in contributed["grammars"]:
        assert grammar["language"] in languages
        text = json.loads((folder / grammar["path"]).read_text(encoding="utf-8"))
        assert text["scopeName"] == grammar["scopeName"], grammar
    for name, setting in contributed["configuration"]["properties"].items():
        assert name.startswith(manifest["name"] + ".") and {"type", "default", "description"} <= set(setting), name
        # What is started may not be another program wherever one's settings are taken to.
        assert setting["scope"] == "machine-overridable", name
    assert manifest["capabilities"]["untrustedWorkspaces"]["supported"] is False


def host(folder, settings, files, good=True):
    done = subprocess.run(["node", pathlib.Path(__file__).with_name("vscode_host.js"), folder, json.dumps(settings), *files],
                          capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == good, done.stderr
    return json.loads(done.stdout) if good else done.stderr


def check_messages(adc, folder, work):
    for name, text in FILES.items():
        (work / name).write_text(text, encoding="utf-8")
    seen = host(folder, {"adc.path": adc, "adc.arguments": ["--derive=none"]}, [work / name for name in FILES])
    assert seen["server"]["name"] == "adc" and seen["args"] == ["lsp", "--derive=none"] and seen["code"] == 0, seen
    files = seen["files"]
    for name in ("wrong.ir", "good.ir", "marked.comp", "marked.hlsl", "other.glsl"):
        assert files[name]["taken"], f"the server is not told of {name}"
        assert files[name]["starts"], f"VS Code does not start the extension for {name}"
    assert files["wrong.ir"]["language"] == "adc"
    assert not files["kernel.cpp"]["taken"] and not files["kernel.cpp"]["starts"]
    message, = files["wrong.ir"]["messages"]
    assert message["code"] == "E0106" and message["source"] == "adc" and message["severity"] == 1, message
    assert message["range"] == {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 13}}, message
    assert files["good.ir"]["messages"] == [] and files["other.glsl"]["messages"] == []
    for name in ("marked.comp", "marked.hlsl"):
        assert any("'y'" in one["message"] for one in files[name]["messages"]), files[name]


def main():
    adc, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    check_manifest(folder)
    if shutil.which("node") is None:
        print("NO NODE HERE (nodejs), THE EXTENSION FOR VISUAL STUDIO CODE IS NOT RUN", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        check_messages(adc, folder, pathlib.Path(work))
        none = host(folder, {"adc.path": os.path.join(work, "none")}, [], good=False)
        assert "ENOENT" in none, none
    return 0


if __name__ == "__main__":
    sys.exit(main())
