"""The scripts of the pages: real modules, and one script with nothing to load."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from browsers.node import NODE, ROOT, needs_node, run_module
from browsers.page_cases import as_json
from helpers.nightly import nightly
from qps.reports.pages.html_page import script
from qps.reports.pages.script_linker import LinkError, exports_of, link

SCRIPTS = ROOT / "reports" / "scripts"
ENTRIES = (
    "app.js",
    "uncertain_report.js",
    "sampled_report.js",
    "matrix.js",
    "difference.js",
    "serve.js",
)
PATHS = sorted(path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.js"))

BASE = (
    "// Sums.\n\nconst hidden = 2;\nexport const two = hidden;\n"
    "export function* three() { yield 3; }\n"
)
MODULES = {
    "base.js": BASE,
    "deep/own.js": 'import { two } from "../base.js";\n\nconst hidden = "own";\n'
    "export class Own { get value() { return hidden + two; } }\n",
    "app.js": '// A page.\n\nimport { three, two } from "./base.js";\n'
    'import { Own } from "./deep/own.js";\n\n'
    "console.log(new Own().value, two, [...three()].length, typeof hidden);\n",
}


def linked(**changes: str) -> str:
    texts = MODULES | {name.replace("_", "/") + ".js": text for name, text in changes.items()}
    return link("app.js", texts.__getitem__)


def test_each_module_runs_once_behind_all_that_it_imports() -> None:
    text = linked()
    places = [text.index(f"const ${name} =") for name in ("base", "deep_own", "app")]
    assert places == sorted(places)
    assert text.count("yield 3") == 1


@needs_node
def test_a_linked_script_does_what_its_modules_do(tmp_path: Path) -> None:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "linked.cjs").write_text(linked(), "utf-8")
    output = [
        subprocess.run((str(NODE), tmp_path / name), check=True, capture_output=True).stdout
        for name in ("app.js", "linked.cjs")
    ]
    assert output == [b"own2 2 1 undefined\n"] * 2


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"base": 'import { Own } from "./deep/own.js";\n' + BASE}, "import each other: app.js, "),
        ({"app": 'import { four } from "./base.js";\n'}, "base.js exports no `four`"),
        ({"app": 'import { two as four } from "./base.js";\n'}, "base.js exports no `two as"),
        ({"app": 'import base from "./base.js";\n'}, "cannot be linked: import base"),
        ({"app": 'import * as base from "./base.js";\n'}, "cannot be linked: import *"),
        ({"app": 'import { two } from "base";\n'}, "cannot be linked: import { two }"),
        ({"app": 'f();\nimport { two } from "./base.js";\n'}, "cannot be linked: import { two }"),
        ({"app": 'const base = import("./base.js");\n'}, "cannot be linked: import("),
        ({"app": "const here = import.meta.url;\n"}, "cannot be linked: import.meta"),
        ({"base": "export default 2;\n"}, "cannot be linked: export default"),
        ({"app": "export let two = 2;\n"}, "cannot be linked: export let"),
        ({"app": "const two = 2;\nexport { two };\n"}, "cannot be linked: export {"),
        ({"app": 'console.log("</SCRIPT>");\n'}, "cannot be linked: </SCRIPT>"),
        ({"app": "const less = 1 <!--2;\n"}, "cannot be linked: <!--2"),
    ],
)
def test_what_the_linker_does_not_know_is_refused(changes: dict[str, str], trouble: str) -> None:
    with pytest.raises(LinkError, match=re.escape(trouble)):
        linked(**changes)


@needs_node
def test_modules_export_what_the_linker_takes_for_their_exports() -> None:
    own = {path: (SCRIPTS / path).read_text("utf-8") for path in PATHS if path not in ENTRIES}
    found = run_module(
        "const found = {};\n"
        f"for (const path of {json.dumps(list(own))})"
        " found[path] = Object.keys(await import(`./reports/scripts/${path}`));\n"
        "console.log(JSON.stringify(found));"
    )
    assert {path: set(names) for path, names in json.loads(found).items()} == {
        path: set(exports_of(text)) for path, text in own.items()
    }


def test_every_module_stands_in_a_page() -> None:
    pages = "".join(script(entry) for entry in ENTRIES)
    variables = {path: "$" + re.sub(r"\W", "_", path.removesuffix(".js")) for path in PATHS}
    assert [path for path, name in variables.items() if f"const {name} =" not in pages] == []


def test_every_export_is_imported() -> None:
    tests = sorted((ROOT / "tests" / "scripts").glob("*.js"))
    texts = [path.read_text("utf-8") for path in (*map(SCRIPTS.joinpath, PATHS), *tests)]
    lines = [line for text in texts for line in re.findall(r"^import \{(.*)\}", text, re.MULTILINE)]
    imported = {name for line in lines for name in re.findall(r"\w+", line)}
    for path in PATHS:
        assert set(exports_of((SCRIPTS / path).read_text("utf-8"))) <= imported, path


def test_modules_are_left_out_with_what_they_alone_import() -> None:
    modules = MODULES | {"alone.js": "export const far = 1;\n"}
    modules["deep/own.js"] = 'import { far } from "../alone.js";\n' + modules["deep/own.js"]
    text = link("app.js", modules.__getitem__, {"deep/own.js"})
    assert "const { Own } = {};" in text
    assert "yield 3" in text
    assert "$alone" not in text
    assert "$deep_own" not in text


def test_a_page_has_the_operations_that_its_programs_need() -> None:
    few, some, every = (script("app.js", words) for words in ((), {"closed_wait"}, None))
    assert "$engine_closed" not in few
    assert "const $engine_rows_closed_networks =" in some
    assert "const { class_rate, class_wait, class_open_wait, class_quantile } = {};" in some
    assert len(few) < 0.7 * len(every)


def test_a_page_of_rows_holds_no_program() -> None:
    assert "$engine_program" not in script("matrix.js") + script("difference.js")


UNITS = sorted((ROOT / "tests" / "scripts").glob("*.test.js"))


OPERATIONS = ROOT / "tests" / "scripts" / "operations.test.js"


@needs_node
@pytest.mark.parametrize(
    "file",
    [
        *(pytest.param(file, id=file.name) for file in UNITS),
        pytest.param(OPERATIONS, marks=nightly, id="operations.test.js on four times the cases"),
    ],
)
def test_units_of_the_scripts(file: Path, tmp_path: Path) -> None:
    """Among them the law of the table of operations, with cases from Python."""
    cases = tmp_path / "cases.json"
    if "QPS_CASES" in file.read_text("utf-8"):
        cases.write_text(as_json(), "utf-8")
    output = subprocess.run(
        (str(NODE), "--test-reporter=tap", file),
        cwd=ROOT,
        env={**os.environ, "QPS_CASES": str(cases) if cases.exists() else ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.returncode == 0, output.stdout[-5000:]
    assert "# skipped 0" in output.stdout
