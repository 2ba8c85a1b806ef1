"""What the terminal and the page both say is written once, and said by both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from browsers.node import needs_node, run_module
from documents.docs import ROOT
from helpers.sentence_literals import ROOMS, modules, sentence_literals
from qps.reports.text.words.nouns import noun, noun_of_one
from qps.reports.text.words.phrases import phrase, phrases, tables

_SAID = re.compile(r"phrase\(\s*(?:f?[\"']|`)([\w. ]*)(?:([{$]))?")


def _said_in(folder: Path, ending: str) -> set[str]:
    """Return which phrases the files of a folder say; a key that is put together says all of it."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in folder.rglob(f"*{ending}")
        if path.name != "phrases.js" and not path.name.endswith("_phrases.py")
    ]
    known, said = set(phrases()), set()
    for text in texts:
        quoted = set(re.findall(r"[\"`']([\w. ]+)[\"`']", text))
        said |= known & quoted
        for start, goes_on in _SAID.findall(text):
            if goes_on:
                said |= {key for key in known if key.startswith(start)}
    return said


def test_every_phrase_is_said_those_of_the_page_by_both_of_its_makers() -> None:
    reports = ROOT / "reports"
    in_python = (
        _said_in(reports / "text", ".py")
        | _said_in(reports / "pages", ".py")
        | _said_in(reports / "templates", ".jinja")
        | _said_in(ROOT / "reviewing", ".py")
        | _said_in(ROOT / "src/qps/commands", ".py")
    )
    in_scripts = _said_in(reports / "scripts", ".js")
    assert set(phrases()) - in_python - in_scripts == set()
    of_pages = {key for key in phrases() if key.startswith("page.")}
    assert of_pages - in_python == set()
    assert of_pages - in_scripts == set()


def test_no_phrase_is_requested_that_is_not_there() -> None:
    in_python = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    for path in [*in_python, *(ROOT / "reports/scripts").rglob("*.js")]:
        for key, goes_on in _SAID.findall(path.read_text(encoding="utf-8")):
            there = [one for one in phrases() if one.startswith(key)] if goes_on else [key]
            assert set(there) <= set(phrases()), f"{path.name}: {key}"
            assert there, f"{path.name}: {key}"


def test_a_phrase_without_one_of_its_values_is_a_fault() -> None:
    with pytest.raises(KeyError, match="value"):
        phrase("reason.saturated", name="web.cpu")
    with pytest.raises(KeyError):
        phrase("nothing of the kind")


def test_no_key_stands_in_two_tables() -> None:
    of_texts = [key for table in tables() for key in table]
    assert len(of_texts) == len(set(of_texts))
    script = (ROOT / "reports/scripts/common/phrases.js").read_text(encoding="utf-8")
    assert not set(of_texts) & set(re.findall(r'^  "([^"]+)":', script, re.MULTILINE))


_LINES_OF_SYSTEMS = (
    "with scenario = recorded",
    "scenario recorded { N = {}; recorded_users = {}; traced = 100 % }",
    "  {} * {}.rate ~ {} request/s within 1 % {}",
    "  {}.latency ~ {} within 20 % {}",
    "between 0.1 and 10 ms/request",
    "param {}_cpu = {}  source {}",
    "param {}_cores = {} in 1..1024  source {}",
    "cpu {}_cores * 1 core, idle {}, queueing mmc",
    "machine pod(count) { cpu count * 1 core, queueing mmc }",
    "network fabric { propagation 0 ms }",
    "; delay waits({}{}, {})",
    "component {} { cpu {}{} }",
    "  link calls = fabric between all",
    "stream {} for each user {",
    "  traffic {}_rate / traced / recorded_users{}",
    "users N in 1..1_000_000",
    "param recorded_users = {} in 1..1_000_000_000  source {}",
    "param traced = 100 % in 0.0001..100 %  source {}",
    "param {} = {} in 0..1000 %  source {}",
    "let {}_rate = {}  source {}",
    "param {}_rate = {} request/s  source {}",
    "param request_rate = 1 request/s  source {}",
    "machine client { }",
    "component {}_request { cpu {}_cpu }",
    "  node clients = client * N",
    "stream request for each clients {",
    "  over calls",
    "  at clients { }",
    "param {}_count = {} in {}  source {}",
    "cpu {} core, queueing {}",
    "param {}_cores = 2 in 1..1024  source {}",
    "cpu {}_cores * 1 core, queueing mmc",
    "machine {}_machine { {}; source {} }",
)
"""Lines of the specs that `qps observe traces` and `manifests` write; words are phrases."""


_OUTSIDE = {
    **dict.fromkeys(_LINES_OF_SYSTEMS, "a line of a spec"),
    "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None": "a type",
    "words none": "an attribute of an element",
    "target of (.+)": "a name in results",
    "{}{}{}\ncomponent step{} {\n{}\n}\n": "a spec",
    "machine tested { {} }": "a spec",
    "machine tested {\n  {}\n}": "a spec",
    " with idle = 0 %": "a spec",
    "{}machine tested { cpu {} }\ncomponent step {\n{}\n  source {}\n}\n": "a spec",
    "cpu 1 core, queueing ps speeds {}": "a spec",
    "{}\ncomponent step {\n{}\n{}}\n": "a spec",
    "fit {} by {}": "a part of a spec",
    "  {} measured on {}": "a line of a spec",
    "  {}\n    measured on {}": "a line of a spec",
    "default-src 'none'; style-src 'unsafe-inline'": "a security policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'": "the same",
    "`{}` of type {}": "a part of a message",
    "install git; to compare two files without it: `qps diff OLD NEW`": "a message",
    "delete it, or name another file: `qps ci --passed FILE` starts a new one": "a message",
    "cannot write to {}: {}": "a message, printed when no module may be loaded",
    "standard output": "a part of that message",
    "standard error": "a part of that message",
    "finished run": "a part of a stored key",
}
"""Texts of several words that are no phrases, and why."""


def test_no_sentence_stands_outside_the_tables() -> None:
    """Run `PYTHONPATH=tests python tests/helpers/sentence_literals.py` to list all of them."""
    found = {
        text: f"{path.relative_to(ROOT)}:{line}"
        for path in modules()
        for line, text in sentence_literals(path)
    }
    assert {text: place for text, place in found.items() if text not in _OUTSIDE} == {}
    assert set(_OUTSIDE) - set(found) == set()


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ('print("no claim fails")', ["no claim fails"]),
        ('at = f"limit of {limit} reached"', ["limit of {} reached"]),
        ("f\"{one}{f' in mode {mode}' if mode else none}\"", [" in mode {}"]),
        ('def f():\n    """It returns a thing."""\n    raise Fault("no such thing")', []),
        ('run("qps fmt --check", "--set mode=night", "servers")', []),
    ],
)
def test_sentences_in_code_are_found(tmp_path: Path, code: str, texts: list[str]) -> None:
    path = tmp_path / "module.py"
    path.write_text(code, encoding="utf-8")
    assert [text for _, text in sentence_literals(path)] == texts


@needs_node
def test_a_script_reads_the_same_table() -> None:
    script = """
import { phrase } from "./reports/scripts/common/phrases.js";
const told = [phrase("more.end", { at: "12" }), phrase("all_exact")];
try { phrase("more.end", {}); } catch (error) { told.push(error.message); }
console.log(JSON.stringify(told));
"""
    data = json.loads(run_module(script))
    assert data == [phrase("more.end", at="12"), phrase("all_exact"), "more.end lacks at"]


NAMES = [
    "N",
    "N_",
    "__",
    "users",
    "calls",
    "viewers",
    "people",
    "data_centres",
    "boxes",
    "classes",
    "cities",
    "connected",
    "people_waiting",
    "customers_of_the_shop",
    "classes_of_pupils",
    "rps",
]


@needs_node
def test_both_call_what_a_spec_counts_the_same() -> None:
    script = f"""
import {{ nounOf, oneOf }} from "./reports/scripts/live/sentences.js";
const nouns = {NAMES}.map((population) => nounOf({{ population }}));
console.log(JSON.stringify(nouns.map((one) => [one, oneOf(one)])));
"""
    data = json.loads(run_module(script))
    assert data == [[noun(name), noun_of_one(name)] for name in NAMES]


_TWICE = {
    "if uncertainty is halved",
    "stage mean per item",
    "web cpu cores",
    "none at all",
    "share of variance",
    "the saturation point of",
}
"""Words of both makers that differ in a heading, or are a part of a sentence of one of them."""


def test_no_further_sentence_is_written_in_python_and_in_scripts() -> None:
    folder = ROOT / "reports"
    in_python = {words for path in folder.rglob("*.py") for words in _sentences(path)}
    scripts = [path for path in folder.rglob("*.js") if path.name != "phrases.js"]
    in_scripts = {words for path in scripts for words in _sentences(path)}
    assert len(in_python) > 400
    assert len(in_scripts) > 100
    both = {words for words in in_python & in_scripts if len(words.split()) > 2}
    assert both <= _TWICE


_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')


def _sentences(path: Path) -> set[str]:
    """Return the literals of a file that have several words, without what is put into them."""
    whole = path.read_text(encoding="utf-8")
    text = re.sub(r'"""[\s\S]*?"""|^\s*//.*$', "", whole, flags=re.MULTILINE)
    found = ("".join(groups) for groups in _LITERAL.findall(text))
    plain = (re.sub(r"\$?\{[^{}]*\}", " ", one) for one in found if " " in one)
    return {" ".join(re.findall(r"[a-z]+", one.lower())) for one in plain}
