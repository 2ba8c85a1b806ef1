"""Texts from strangers: whatever they hold, there is a diagnostic or an answer."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE
from qps.cli import main
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import Diagnostic, Outcome
from qps.compiler.diagnostics.render import as_json, full, plain, printable
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.syntax import ast
from qps.compiler.syntax.format import formatted
from qps.compiler.syntax.parse import parse_change
from qps.grammar.keywords import declarations
from qps.grammar.parsing import ParseTree, _selected
from qps.grammar.words import RESERVED
from qps.solver.variants.lowered_combinations import LoweredCombinations
from qps.solver.variants.starting_points import StartingPoint
from qps.solver.variants.variants import variants_of

ROOT = Path(__file__).parents[2]
LONG = "a" * 5_000
REST = "topology { node host = box }\nstream flow { traffic 1 packet/s; at host { work } }\n"


def check(text: str) -> Outcome[Spec]:
    return check_source(Source("spec.qps", text))


def looked_at(diagnostics: tuple[Diagnostic, ...]) -> None:
    """Render diagnostics in every way, and check their places."""
    assert full(diagnostics) or not diagnostics
    plain(diagnostics)
    as_json(diagnostics)
    for diagnostic in diagnostics:
        for label in (diagnostic.primary, *diagnostic.secondary):
            if label is not None:
                assert 0 <= label.span.start <= label.span.end <= len(label.span.source.text)


_WORDS = st.sampled_from(
    [*declarations(), *sorted(RESERVED), "N", "a", "host", "box", "3", "1e5", "ms", "packet", "%",
     "=", "==", "<=", "+", "-", "*", "/", "^", "(", ")", "{", "}", ",", ";", "\n", "..", "->", "~",
     '"text"', '"""', '"', "#", ".", "each", "for", "shared", "rate", "é", "🙂", "\x00", "\x1b[31m"]
)  # fmt: skip


@settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_WORDS, max_size=40).map(" ".join))
def test_no_heap_of_words_raises(text: str) -> None:
    looked_at(check(text).diagnostics)
    looked_at(check(PRELUDE + text + "\n" + REST).diagnostics)


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    looked_at(check(text).diagnostics)


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, len(PRELUDE + REST)), st.text(max_size=3))
def test_no_change_of_a_good_spec_raises(at: int, inserted: str) -> None:
    text = PRELUDE + REST
    looked_at(check(text[:at] + inserted + text[at:]).diagnostics)
    looked_at(check(text[:at] + text[at + 3 :]).diagnostics)


HOSTILE = {
    "brackets": "param a = " + "(" * 100_000 + "1" + ")" * 100_000,
    "minuses": "param a = " + "-" * 50_000 + "1",
    "nots": "option o = on\ncomponent c { }\nparam a = if " + "not " * 50_000 + "o then 1 else 2",
    "powers": "param a = 2" + " ^ 2" * 20_000,
    "tower": "param a = (((10 ^ 1000) ^ 1000) ^ 1000)",
    "big_product": "param a = " + " * ".join(["1e300"] * 2_000),
    "long_sum": "param a = " + " + ".join(["1"] * 30_000),
    "ifs": "option o = on\nparam a = " + "if o then 1 else " * 20_000 + "2",
    "functions": "func f0(x) = x + x\n"
    + "\n".join(f"func f{i}(x) = f{i - 1}(x) * f{i - 1}(x)" for i in range(1, 60))
    + "\nparam a = f59(2)",
    "lets": "let a0 = N\n" + "\n".join(f"let a{i} = a{i - 1} * a{i - 1} + N" for i in range(1, 60)),
    "conditions": "let a0 = 1\n"
    + "\n".join(f"let a{i} = if a{i - 1} > a{i - 1} then 1 else 2" for i in range(1, 60)),
    "deep_conditions": "let a0 = 1\n"
    + "\n".join(f"let a{i} = if a{i - 1} > 2 then 1 else 2" for i in range(1, 2_000)),
    "deep_lets_of_deep_sums": "".join(
        f"let a{i} = " + "(" * 240 + f"a{i - 1}" + " + 1)" * 240 + "\n" for i in range(99, 0, -1)
    )
    + "let a0 = 1",
    "units": "\n".join(f"unit u{i} = 1000 u{i + 1}" for i in range(500)) + "\nunit u500 = 1 ms",
    "deep_units": "\n".join(f"unit v{i} = v{i + 1}" for i in range(5000)) + "\nunit v5000 = 1 ms",
    "recursion": "func f(x) = f(x + 1)\nparam a = f(1)",
    "digits": "param a = " + "9" * 100_000,
    "exponent": "param a = 1e999999999999",
    "power_of_power": "param a = 2 ^ (10 ^ 300)",
    "name": "param " + "a" * 500_000 + " = 1",
    "text": 'param a = 1 source "' + "x" * 500_000 + '"',
    "doc": '"""' + "x" * 500_000,
    "nul": "param a = \x00",
    "many_mistakes": "\n".join(f"param a{i} = )" for i in range(2_000)),
    "many_names": "\n".join(f"param a{i} = b{i}" for i in range(2_000)),
    "many_streams": "\n".join(f"stream q{i} {{ traffic 1 packet/s; at x {{ }} }}" for i in range(9)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_specs_end_soon_and_in_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.qps"
    path.write_text(PRELUDE + REST + HOSTILE[name] + "\n", encoding="utf-8")
    # The limit of time is generous: it guards against what never ends, not against what is slow.
    done = subprocess.run(
        [sys.executable, "-m", "qps", "check", "--format", "plain", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode in (0, 2), done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert len(done.stderr) < 5_000_000


@pytest.mark.parametrize(
    "text",
    [
        ("param p = 0\ncomponent c { cpu 1 ms/packet / p }\n"
        "stream more { traffic 1 packet/s; at host { c } }"),
        "measure m = 1 / (N - 5)\nrequire { m <= 3 }",
        "measure m = sqrt(10 - N)\nrequire { m <= 3 }",
        "measure m = ln(N - 3)\nrequire { m <= 3 }",
        "measure m = exp(exp(N))\nrequire { m <= 3 }",
        "measure m = N ^ N\nrequire { m <= 3 }",
    ],
)  # fmt: skip
def test_undefined_values_are_never_an_answer(text: str, tmp_path: Path) -> None:
    path = tmp_path / "undefined.qps"
    path.write_text(PRELUDE + REST + text + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "qps", "solve", "--format", "json", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "NaN" not in done.stdout
    assert "Infinity" not in done.stdout


def test_control_characters_do_not_reach_a_terminal() -> None:
    text = PRELUDE + REST + '"""\x1b[31m doc"""\nparam a = nothing_\x9b # \x1b]0;title\x07\n'
    diagnostic = full(check(text).diagnostics)
    assert diagnostic
    assert not any(character in diagnostic for character in "\x1b\x07\x9b")
    assert "\x1b" not in printable("a\x1b[2Jb")


def test_a_file_that_is_too_long_is_reported_where_why_and_what_helps() -> None:
    (found,) = check("# a line\n" * 50_000).diagnostics
    assert found.primary is not None
    assert found.primary.span.place == "spec.qps:1"
    assert found.message == "the file has 450,000 characters, more than the limit of 400,000"
    assert "split it into files" in found.hints[0]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.qps"
    outside.write_text("param secret = 3\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.qps").symlink_to(outside)
    text = PRELUDE + 'use "link.qps" as other\n' + REST
    found = check_source(Source("spec.qps", text, inside)).diagnostics
    assert [d.code.id for d in found] == ["QPS0207"]


@pytest.mark.parametrize("command", ["layout", "setting"])
def test_what_is_nested_too_deep_is_reported_where_nobody_checks_it(command: str) -> None:
    deep = "if o then 1 else " * 3_000 + "2"
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # as a process begins
    try:
        found: Outcome[str] | Outcome[ast.Change] = (
            formatted(Source("spec.qps", f"param a = {deep}\n"))
            if command == "layout"
            else parse_change(Source("--set", f"a = {deep}"))
        )
    finally:
        sys.setrecursionlimit(usual)
    assert {one.code.id for one in found.diagnostics} == {"QPS0105"}


def test_a_long_list_grows_in_place() -> None:
    long, short = ParseTree("list", ["a", "b"], 0, 1), ParseTree("list", ["c"], 1, 2)
    found = _selected([long, short], [(0, True, 0), (1, True, 0)], 1)
    assert found == ["a", "b", "c", None]
    assert found is long.children  # copied, lists would cost the square of their length


@pytest.mark.parametrize(
    "words",
    [
        ["check", LONG],
        ["fmt", LONG],
        ["test", LONG],
        ["diff", LONG, "spec.qps"],
        ["diff", f"{LONG}:spec.qps", "spec.qps"],
        ["diff", "HEAD:a/../../../../../../../../spec.qps", "spec.qps"],
        ["observe", "wrk", LONG],
    ],
)
def test_names_that_no_file_can_have_are_no_fault(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.qps").write_text(PRELUDE + REST, encoding="utf-8")
    assert main(words) == 2


def test_choices_that_nothing_reads_are_not_tried_together(monkeypatch: pytest.MonkeyPatch) -> None:
    options = "\n".join(f"option o{i} = on or off" for i in range(60))
    spec = check(PRELUDE + REST + options).value
    assert spec is not None
    tried: list[object] = []

    def counted(*words: Any) -> object:
        tried.append(words)
        assert len(tried) < 1_000
        return added(*words)

    added = LoweredCombinations.add
    monkeypatch.setattr(LoweredCombinations, "add", counted)
    found = variants_of(spec.model, [StartingPoint("as it is", base_configuration(spec.model))])
    held = list(found.variants)
    assert found.are_all(held)
    assert found.combinations >= 2**60
