"""What the terminal and the page both say is written once, and said by both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from browsers.node import needs_node, run_module
from documents.docs import ROOT
from qps.reports.text.words.nouns import noun, noun_of_one
from qps.reports.text.words.phrases import phrase, phrases

_SAID = re.compile(r"phrase\(\s*(?:f?\"|`)([\w. ]*)(?:([{$]))?")


def _said_in(folder: Path, ending: str) -> set[str]:
    """Return which phrases the files of a folder say; a key that is put together says all of it."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in folder.rglob(f"*{ending}")
        if path.name not in ("phrases.js", "text_phrases.py")
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
    )
    in_scripts = _said_in(reports / "scripts", ".js")
    assert set(phrases()) - in_python - in_scripts == set()
    of_pages = {key for key in phrases() if key.startswith("page.")}
    assert of_pages - in_python == set()
    assert of_pages - in_scripts == set()


def test_no_phrase_is_requested_that_is_not_there() -> None:
    for path in [*(ROOT / "reports").rglob("*.py"), *(ROOT / "reports/scripts").rglob("*.js")]:
        for key, goes_on in _SAID.findall(path.read_text(encoding="utf-8")):
            there = [one for one in phrases() if one.startswith(key)] if goes_on else [key]
            assert set(there) <= set(phrases()), f"{path.name}: {key}"
            assert there, f"{path.name}: {key}"


def test_a_phrase_without_one_of_its_values_is_a_fault() -> None:
    with pytest.raises(KeyError, match="value"):
        phrase("reason.saturated", name="web.cpu")
    with pytest.raises(KeyError):
        phrase("nothing of the kind")


@needs_node
def test_a_script_reads_the_same_table() -> None:
    script = """
import { phrase } from "./reports/scripts/common/phrases.js";
const told = [phrase("more.end", { at: "12" }), phrase("all_exact")];
try { phrase("more.end", {}); } catch (error) { told.push(error.message); }
console.log(JSON.stringify(told));
"""
    told = json.loads(run_module(script))
    assert told == [phrase("more.end", at="12"), phrase("all_exact"), "more.end lacks at"]


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
]


@needs_node
def test_both_call_what_a_spec_counts_the_same() -> None:
    script = f"""
import {{ nounOf, oneOf }} from "./reports/scripts/live/sentences.js";
const nouns = {NAMES}.map((population) => nounOf({{ population }}));
console.log(JSON.stringify(nouns.map((one) => [one, oneOf(one)])));
"""
    told = json.loads(run_module(script))
    assert told == [[noun(name), noun_of_one(name)] for name in NAMES]


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
    scripts = [
        path for path in folder.rglob("*.js") if path.name not in ("phrases.js", "text_phrases.py")
    ]
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
