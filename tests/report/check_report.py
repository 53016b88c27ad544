"""Opens pages of `adc report` in a headless Chromium, and compares what they show with what `adc` says.

    check_report.py --adc ADC --samples FOLDER --work FOLDER

Pictures of the pages, light and dark, lie in the folder `work` afterwards. Without a browser it says that it is skipped.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from browser import Browser, find_browser

SKIPPED = 77

HOSTILE = """// </script><script>document.title = "taken"</script> <img src=x onerror="document.title='taken'"> & "quotes" 'é' \u202e
kernel @evil(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %p = lt %a, 0.5
      assert %p, "</script><b>"
      %b = add (sin %a), 0.1
      yield %b
    }
    atomic add %loss[], %v
  }
}
"""


TWO_TASKS = """kernel @two(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (sin %x[%i]) }
  parallel %j in 0..shape(%y, 0) { atomic add %loss[], %y[%j] }
}
"""


LONG = """kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %h = mod %n, (add %i, 1)
    %r = for %t in 0..%h carry(%b = %a) { yield (mul (sin %b), %b) }
    store %y[%i], %r
  }
}
"""
BEFORE = """kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %r, %w = for %t in 0..%n carry(%b = %a, %c = 1.0) {
      %p = mul (sin %b), %c
      yield (mul %p, %b), %p
    }
    store %y[%i], %r
  }
}
kernel @old(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (sin %x[%i]) }
}
"""
AFTER = """kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    %r = for %t in 0..(div %n, 2) carry(%b = %a) { yield (mul (sin %b), %b) }
    store %y[%i], %r
  }
}
kernel @fresh(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (cos %x[%i]) }
}
"""


class Checks:
    def __init__(self, options, browser):
        self.adc, self.samples, self.work, self.browser = options.adc, options.samples, options.work, browser

    def adc_says(self, *words):
        done = subprocess.run([self.adc, *map(str, words)], capture_output=True, text=True, cwd=self.work, check=False)
        assert done.returncode == 0, f"adc {' '.join(map(str, words))}: {done.stderr}"
        return done.stdout

    def page(self, *words, name):
        """The page of these words, open, and without a fault."""
        path = self.work / f"{name}.html"
        self.adc_says("report", *words, "-o", path)
        self.browser.open(path)
        self.is_sound(path)
        return path

    def is_sound(self, path):
        assert self.browser.faults == [], f"{path.name}: {self.browser.faults}"
        assert all(url == path.absolute().as_uri() for url in self.browser.requests), f"{path.name} asks for {self.browser.requests}"
        text = path.read_text(encoding="utf-8")
        for folder in (self.work, self.samples, pathlib.Path.home()):
            assert str(folder.absolute()) not in text, f"{path.name} says where {folder} lies"
        wide = self.browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{path.name} is cut by {wide} pixels"

    def pictures(self, path):
        for scheme in ("light", "dark"):
            self.browser.open(path, scheme)
            self.browser.picture(self.work / f"{path.stem}-{scheme}.png")
            ground = self.browser.ask("getComputedStyle(document.body).backgroundColor")
            brightness = sum(int(part) for part in ground[ground.index("(") + 1:-1].split(",")[:3])
            assert (brightness > 600) == (scheme == "light"), f"{path.stem} in {scheme}: {ground}"

    def margin(self):
        """{line: (stored, recomputed, amount)} as the page shows it."""
        rows = self.browser.ask("""[...document.querySelectorAll("tr.noted")].map(row => [Number(row.dataset.line),
            ...[...row.children].slice(1, 4).map(cell => cell.innerText.trim())])""")
        return {row[0]: tuple(row[1:]) for row in rows}

    def check_margin(self):
        path = self.page(self.samples / "relax.ir", "--shape", "x=1000000", "--arg", "n=64", name="relax")
        assert self.margin() == {9: ("", "1", ""), 11: ("1", "", "4 B")}, self.margin()
        tip = "document.getElementById('tip')"
        assert self.browser.ask(f"{tip}.hidden")
        self.browser.point("tr[data-line='11'] .text")
        assert not self.browser.ask(f"{tip}.hidden")
        said = self.browser.ask(f"{tip}.innerText")
        assert "%a : f32" in said and "4 B an iteration of the loop at relax.ir:11:10: carried from iteration to iteration" in said, said
        self.browser.click("tr[data-line='9'] .text")
        assert "from %x, 1 operation, no bytes" in self.browser.ask("document.querySelector('tr.open').innerText")
        self.browser.click("tr[data-line='9'] .text")
        assert self.browser.ask("document.querySelector('tr.open')") is None
        text = self.browser.ask("[...document.querySelectorAll('.source td.text')].map(cell => cell.textContent).join('\\n') + '\\n'")
        assert text == (self.samples / "relax.ir").read_text(encoding="utf-8"), text
        self.pictures(path)

    def check_hostile(self):
        folder = self.work / "a <b>"
        folder.mkdir(exist_ok=True)
        source = folder / "\"'<i>&amp;é.ir"
        source.write_text(HOSTILE, encoding="utf-8")
        self.page(source, "--shape", "x=10", name="hostile")
        assert self.browser.ask("document.title") == source.name
        assert self.browser.ask("document.querySelector('h1').textContent") == source.name
        assert self.browser.ask("document.images.length") == 0
        first = self.browser.ask("document.querySelector('.source td.text').textContent")
        assert first == HOSTILE.split("\n", maxsplit=1)[0].replace("\u202e", "\\u202e"), first

    def check_samples(self):
        """Every sample has a page, of its text and of its bundle."""
        sources = sorted([*self.samples.glob("*.ir"), *self.samples.glob("cpp/*.cpp"), *self.samples.glob("shaders/*.comp")])
        sources.remove(self.samples / "quaternion.ir")  # functions alone
        assert len(sources) > 10
        for source in sources:
            path = self.page(source, name=f"sample-{source.name}")
            notes = self.browser.ask("JSON.parse(document.getElementById('data').textContent).notes.length")
            if notes > 0:
                assert self.margin() != {}, source
            if source.stem == "mpm_grid_op" and source.suffix == ".cpp":
                self.pictures(path)

    def check_figures(self):
        """What the page computes as sliders move is what `adc size` says: of many bundles, for sizes, threads, budgets and shares at random."""
        gradients = sorted(self.samples.parent.glob("tests/e2e/gradients/*.ir"))
        share = gradients if os.environ.get("ADC_FULL") else gradients[int(os.environ.get("ADC_SEED", "0")) % 6::6]
        always = [self.samples.parent / "tests/e2e/gradients" / name for name in ("checkpoint.ir", "gates.ir", "flags.ir", "nested_while.ir")]
        sources = [*always, *self.samples.glob("*.ir"), *self.samples.glob("cpp/*.cpp"), *share]
        seen = {"runs": 0, "refused": 0, "open": 0, "segments": 0, "rows": 0}
        self.too_long = 0
        for source in dict.fromkeys(sources):
            made = subprocess.run([self.adc, source, "--checkpoint=auto", "--save-overwritten", "--keep-going", "-w", "-o", "figures.adcb"],
                                  capture_output=True, cwd=self.work, check=False)
            if made.returncode == 0:
                self.compare_figures(source.name, seen)
        print(f"figures: {seen}, {self.too_long} too long for the page")
        assert seen["runs"] > 100 and min(seen.values()) > 5, seen
        assert self.too_long * 20 < seen["runs"], f"{self.too_long} of {seen['runs']} launches take too long for the page"

    def compare_figures(self, source, seen):
        self.page("figures.adcb", name="figures")
        self.browser.ask((pathlib.Path(__file__).parent / "settings.js").read_text(encoding="utf-8") + "; 0")
        for seed in range(3):
            for told in self.browser.ask(f"figuresFor({seed})"):
                shown = {one["target"]: one for one in told["figures"]}
                words = ["size", "--json", "figures.adcb", "--kernel", told["kernel"], *" ".join(told["words"]).split()]
                done = subprocess.run([self.adc, *words], capture_output=True, text=True, cwd=self.work, check=False)
                seen["runs"] += 1
                if done.returncode != 0:
                    seen["refused"] += 1
                    assert any("refusal" in one for one in shown.values()), f"{source}: adc {' '.join(words)}: {done.stderr}"
                    continue
                sizes = json.loads(done.stdout)
                if any(shown[size["target"]].get("refusal", "").endswith("takes too long to compute here: adc size does it") for size in sizes):
                    self.too_long += 1  # what a page shows then: check_static
                    continue
                for size in sizes:
                    self.compare_launch(f"{source}: adc {' '.join(words)} on {size['target']}", size, shown[size["target"]], seen)

    @staticmethod
    def compare_launch(title, size, page, seen):
        assert "refusal" not in page, f"{title}: the page refuses it: {page['refusal']}"
        for key in ("heap_bytes", "scratch_bytes", "argument_bytes", "resolved"):
            assert size[key] == page[key], f"{title}: {key} is {size[key]}, and in the page {page[key]}"
        seen["open"] += 1 - size["resolved"]
        for number, (task, drawn) in enumerate(zip(size["tasks"], page["tasks"], strict=True)):
            assert task["resolved"] == drawn["resolved"], f"{title}: task {number}"
            if not task["resolved"]:
                continue
            seen["segments"] += task["segment"] > 0
            seen["rows"] += task["rows"] > 0
            for key in ("iterations", "rows", "row_bytes", "heap_bytes", "segment", "may_checkpoint"):
                assert task[key] == drawn[key], f"{title}: task {number}: {key} is {task[key]}, and in the page {drawn[key]}"
            capacities = [stack["capacity"] for stack in task["stacks"]]
            assert capacities == [stack["capacity"] or 0 for stack in drawn["stacks"]], f"{title}: task {number}: {capacities}"

    def check_static(self):
        """Where contents decide, or where a page would compute for too long, it shows the figures of the command line."""
        source = self.work / "long.ir"
        source.write_text(LONG, encoding="utf-8")
        self.page(source, "--kernel", "k.grad", "--shape", "x=3000000", "--arg", "n=77777", name="long")
        self.is_static("too long to compute")
        gated = self.samples.parent / "tests/files/driver/Inputs/gated-ragged.ir"
        self.page(gated, "--kernel", "k.grad", "--arg", "x=ones[100]", "--arg", "c=full:7[100]", name="contents")
        self.is_static("Contents of buffers decide")

    def is_static(self, why):
        text = self.browser.ask("document.querySelector('section').innerText")
        assert why in text, text
        assert self.browser.ask("document.querySelectorAll('section input').length") == 0
        data = self.browser.ask("JSON.parse(document.getElementById('data').textContent).sizes.map(size => size.heap_bytes)")
        assert self.browser.ask("[...document.querySelectorAll('.heap [data-heap]')].map(one => Number(one.dataset.heap))") == data

    def check_bundle(self):
        self.adc_says(self.samples / "relax.ir", "--target=cpu", "-o", "relax.adcb")
        self.page("relax.adcb", "--shape", "x=1000", "--arg", "n=64", name="bundle")
        text = self.browser.ask("document.querySelector('main, body').innerText")
        assert "adc report kernel.ir" in text and "adc report relax.adcb --show-source kernel.ir" in text, text

    def check_bundle_with_source(self):
        """Of a bundle and its source: the text, what is stored beside it, and that this is not all."""
        self.adc_says(self.samples / "relax.ir", "--target=cpu", "--target=vulkan", "-o", "relax.adcb")
        path = self.page("relax.adcb", "--show-source", self.samples / "relax.ir", name="bundle-source")
        assert self.margin() == {11: ("1", "", "4 B")}, self.margin()
        self.browser.click("tr[data-line='11'] .text")
        row = self.browser.ask("document.querySelector('tr.open').innerText")
        assert "@relax.grad" in row and "%a : f32" in row and "4 B an entry of its tape" in row, row
        text = self.browser.ask("[...document.querySelectorAll('.source td.text')].map(cell => cell.textContent).join('\\n') + '\\n'")
        assert text == (self.samples / "relax.ir").read_text(encoding="utf-8"), text
        said = self.browser.ask("document.body.innerText")
        assert "This is the text that the bundle was compiled from." in said, said
        assert "what is computed again there, and why, the page of the source shows" in said and "recomputed" not in said, said
        self.pictures(path)

        (self.work / "edited").mkdir(exist_ok=True)
        edited = self.work / "edited/relax.ir"
        edited.write_text("// One line more.\n" + text, encoding="utf-8")
        self.page("relax.adcb", "--show-source", edited, name="bundle-edited")
        assert self.browser.ask("document.querySelector('p .refused').innerText.trim()") == (
            "relax.ir is not the text that the bundle was compiled from: what is noted may stand beside other lines.")

    def heap(self):
        """{target: bytes} as the bars of the gradient say it."""
        return dict(self.browser.ask("""(grid => [...grid.querySelectorAll("[data-heap]")].map(one => [
            one.closest(".label").previousElementSibling.previousElementSibling.textContent, Number(one.dataset.heap)]))(
            document.querySelector("[data-kernel='relax.grad'] .heap"))"""))

    def check_sliders(self):
        """Sliders and fields move the figures, the curve and the command line that says the same."""
        path = self.page(self.samples / "relax.ir", "--shape", "x=1000", "--arg", "n=64", name="sliders")
        part, before = "[data-kernel=\"relax.grad\"] ", self.heap()
        self.browser.ask(f"(field => {{ field.value = '5000'; field.dispatchEvent(new Event('change')); }})(document.querySelector('{part}[data-name=n]'))")
        self.drag(f"{part}[aria-label=x]", 0.7)
        commands = self.browser.ask(f"[...document.querySelectorAll('{part}.commands code')].map(line => line.textContent)")
        assert len(commands) == 2 and all("--arg n=5000" in line and "--shape x=1000 " not in line for line in commands), commands
        assert self.heap() != before
        for line in commands:
            words = line.split()
            words[2] = self.samples / "relax.ir"
            told = {one["target"]: one["heap_bytes"] for one in json.loads(self.adc_says(*words[1:], "--json"))}
            kind = "cpu" if line == commands[0] else "device"
            mine = {name: bytes for name, bytes in self.heap().items() if name.startswith("cpu") == (kind == "cpu")}
            assert mine and all(told[name] == bytes for name, bytes in mine.items()), (line, told, mine)
        self.browser.ask(f"(choice => {{ choice.value = '1'; choice.dispatchEvent(new Event('change')); }})(document.querySelector('{part}h3 select'))")
        self.browser.point(f"{part}svg.curve")
        assert "n = " in self.browser.ask("document.getElementById('tip').innerText")
        self.pictures(path)

    def check_checkpoints(self):
        """A budget makes the launch of a source choose checkpoints, which a slider gives as well."""
        self.page(self.samples / "relax.ir", "--checkpoint", "auto", "--shape", "x=4", "--arg", "n=1000000", "--threads", "2", name="checkpoints")
        part = "[data-kernel=\"relax.grad\"] "
        assert self.heap()["cpu:x86-64"] == 8000128
        enter = "(field => {{ field.value = '{}'; field.dispatchEvent(new Event('change')); }})(document.querySelector('{}[data-name=\"{}\"]'))"
        self.browser.ask(enter.format("1000000", part, "heap budget"))
        assert self.heap()["cpu:x86-64"] == 16128  # as docs/memory.md shows it
        assert "checkpoints every 1,024" in self.browser.ask(f"document.querySelector('{part}.task-bars').innerText")
        self.browser.ask(enter.format("none", part, "heap budget"))
        assert self.heap()["cpu:x86-64"] == 8000128
        self.browser.ask(enter.format("1024", part, "checkpoint every"))
        assert self.heap()["cpu:x86-64"] == 16128
        self.browser.ask(enter.format("0", part, "checkpoint every"))
        assert self.heap()["cpu:x86-64"] == 8000128
        self.browser.ask(enter.format("100", part, "heap budget"))
        assert "refused: one row does not fit" in self.browser.ask(f"document.querySelector('{part}.heap').innerText")

    def drag(self, selector, share):
        """Drags the thumb of a slider to a share of its width."""
        left, width, y = self.browser.ask(f"(one => {{ one.scrollIntoView({{block: 'center'}}); const box = one.getBoundingClientRect(); return [box.x, box.width, box.y + box.height / 2]; }})(document.querySelector('{selector}'))")
        for kind, x in (("mousePressed", left + width / 2), ("mouseMoved", left + share * width), ("mouseReleased", left + share * width)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def check_before(self):
        """Of two files the page shows what has changed, and its sliders move both."""
        for name, text in (("before.ir", BEFORE), ("after.ir", AFTER)):
            (self.work / name).write_text(text, encoding="utf-8")
        self.adc_says("before.ir", "-o", "before.adcb")
        path = self.page("before.adcb", "after.ir", "--shape", "x=1000", "--arg", "n=500", name="before")
        assert self.browser.ask("document.querySelector('h1').textContent") == "before.adcb \u2192 after.ir"
        part = "[data-kernel=\"k.grad\"] "
        self.browser.ask(f"(field => {{ field.value = '3000'; field.dispatchEvent(new Event('change')); }})(document.querySelector('{part}[data-name=n]'))")
        words = ["--kernel", "k.grad", "--shape", "x=1000", "--arg", "n=3000", "--json"]
        sizes = [{one["target"]: one["heap_bytes"] for one in json.loads(self.adc_says("size", file, *words))} for file in ("before.adcb", "after.ir")]
        shown = self.browser.ask("""VIEWS.find(view => view.kernel.name === "k.grad").figures().map(one => [one.target, Number(one.heap_bytes),
            Number(VIEWS.find(view => view.kernel.name === "k.grad").figuresBefore().get(one.target)?.heap_bytes)])""")
        for target, after, before in shown:
            assert after == sizes[1][target] and (target not in sizes[0] or before == sizes[0][target]), (target, after, before, sizes)
        labels = self.browser.ask(f"[...document.querySelectorAll('{part}.heap .label')].map(one => one.innerText)")
        assert any("\u221275 %, before" in label for label in labels), labels
        table = self.browser.ask(f"document.querySelector('{part}table').innerText")
        assert "%b" in table and "max((n / 2), 0) max(n, 0)" in table and "gone" in table, table
        text = self.browser.ask("document.body.innerText")
        assert "Gone: @old, @old.grad" in text and "@fresh" in text
        assert self.browser.ask("document.querySelector('#kernel-fresh .tag').textContent") == "new"
        self.pictures(path)

    def check_graph(self):
        """The tasks of a kernel, the buffers that each uses, and a barrier between them: of a source and of its bundle."""
        source = self.work / "two.ir"
        source.write_text(TWO_TASKS, encoding="utf-8")
        self.adc_says(source, "-o", "two.adcb")
        for file in (source, "two.adcb"):
            self.page(file, name="graph")
            self.graph_marks()
        # Of a bundle from before 1.16 it says that it does not know.
        page = self.work / "graph.html"
        text, count = re.subn(r',"(?:reads|writes)":\[[0-9,]*\]', "", page.read_text(encoding="utf-8"))
        assert count > 0
        page.write_text(text, encoding="utf-8")
        self.browser.open(page)
        self.is_sound(page)
        assert "Which task uses which, a bundle of this format does not say" in self.browser.ask("document.querySelector('[data-kernel=two]').innerText")

    def graph_marks(self):
        marks = self.browser.ask("[...document.querySelectorAll('[data-kernel=two] .graph g title')].map(one => one.textContent)")
        assert marks == ["task 0 reads %x", "task 0 writes %y", "task 1 reads %y", "task 1 reads and writes %loss"], marks
        assert self.browser.ask("document.querySelectorAll('[data-kernel=two] .graph .barrier').length") == 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adc", required=True)
    parser.add_argument("--samples", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("checks", nargs="*")
    options = parser.parse_args()
    options.adc, options.samples, options.work = os.path.abspath(options.adc), options.samples.absolute(), options.work.absolute()
    options.work.mkdir(parents=True, exist_ok=True)
    program = find_browser()
    if program is None:
        print("NO BROWSER HERE (chromium-headless-shell): THE PAGES OF adc report ARE NOT TESTED", file=sys.stderr)
        return SKIPPED
    with Browser(program) as browser:
        checks = Checks(options, browser)
        names = options.checks or [name for name in dir(checks) if name.startswith("check_")]
        failed = 0
        for name in names:
            try:
                getattr(checks, name)()
                print(f"ok: {name}")
            except AssertionError as fault:
                failed += 1
                print(f"FAILED: {name}: {fault}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
