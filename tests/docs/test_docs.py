"""Every example in the documentation works, and the language reference leaves nothing out."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from documents import spec_figures
from documents.docs import PAGES, ROOT, WORDS, Block, blocks, performed, with_words
from documents.fit_coverage import held_of
from helpers.reports import judged_together
from qps.commands.arguments.command_line import parser_of
from qps.commands.arguments.command_table import COMMANDS
from qps.compiler import ir
from qps.compiler.check.values.check_operations import FUNCTIONS
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.quantities import units
from qps.compiler.syntax.ast import Expect, OwnSource
from qps.compiler.syntax.parse import parse
from qps.grammar.keywords import keywords
from qps.grammar.table_generator import build_parser
from qps.grammar.words import CHOICES, RESERVED

_PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES]
_SPECS = [
    pytest.param(block, id=f"{page.stem}:{block.file or block.start}")
    for page in PAGES
    for block in blocks(page.read_text(encoding="utf-8"))
    if block.kind.startswith("qps")
]


@pytest.mark.parametrize("page", _PAGES)
def test_commands_print_what_the_page_says(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What specs of ours claim is judged by other tests, too: once in a run.
    monkeypatch.setattr("qps.commands.test.tested_specs", judged_together)
    text = page.read_text(encoding="utf-8")
    assert performed(text) == text, "run `python tests/documents/docs.py` and look at the change"


@pytest.mark.parametrize("block", _SPECS)
def test_specs_have_no_mistakes(block: Block) -> None:
    source = Source(block.file or "example.qps", block.body)
    if block.kind == "qps fragment":
        assert parse(source).diagnostics == ()
    elif block.kind == "qps mistake":
        assert any(d.is_error for d in check_source(source).diagnostics)
    else:
        found = [d for d in check_source(source).diagnostics if d.is_error]
        # A spec that names files of its own is checked by the commands that use it.
        assert not found or re.search(r'use "|observe|fit "|samples "', block.body), found


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{page.stem}:{block.start}")
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.kind == "python"
    ],
)
def test_python_does_what_the_page_says(
    block: Block, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block.body, "example", "exec"), {})
    shown = re.findall(r"^print\(.*\)  # -> (.*)$", block.body, re.MULTILINE)
    assert not shown or capsys.readouterr().out.splitlines() == shown


@pytest.mark.parametrize("page", _PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        is_elsewhere = target.startswith("https://")
        assert is_elsewhere or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", _PAGES)
def test_links_lead_to_headings_that_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for file, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([^)]+)\)", text):
        target = page.parent / file if file else page
        assert anchor in _anchors(target), f"{page.name} links to {file}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """Return what a page may be linked at: its headings, as GitHub writes them, and its marks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    marks = re.findall(r'<a id="([^"]+)"></a>', text)
    return {heading.replace(" ", "-") for heading in plain} | set(marks)


ADDRESSES = ROOT / "tests" / "goldens" / "doc_addresses.txt"
"""Every address that the documentation has had: it may be linked from anywhere. Only ever grows."""


def test_every_address_of_the_past_leads_on() -> None:
    addresses = ADDRESSES.read_text(encoding="utf-8").split()
    assert len(addresses) > 250
    anchors = {page: _anchors(ROOT / page) for page in {one.partition("#")[0] for one in addresses}}
    found = (one.partition("#") for one in addresses)
    lost = [f"{page}#{anchor}" for page, _, anchor in found if anchor not in anchors[page]]
    assert lost == [], "put `<a id=…></a>` before the heading, or the link, that took its place"


def test_the_list_of_specs_names_every_figure_with_its_command() -> None:
    listed = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    drawn = {
        f"`qps report specs/{spec.name} --figure {name} -o {name}.html`"
        for spec in (ROOT / "specs").glob("*.qps")
        for name in re.findall(r"^figure (\w+)", spec.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(drawn) > 35
    assert drawn == set(re.findall(r"`qps report specs/\S+ --figure [^`]+`", listed))


FIGURES = spec_figures.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", spec_figures.named(FIGURES))
def test_the_list_of_specs_states_what_qps_test_reports(spec: str) -> None:
    for kind, result in spec_figures.reported(FIGURES, spec).items():
        assert result == spec_figures.figures(kind, spec), "run `python tests/documents/docs.py`"


_OF_NOBODY = re.compile(r"\d|our\b|offer|plan\b|promise|the recording")


@pytest.mark.parametrize("block", _SPECS)
def test_what_counts_as_published_was_published(block: Block) -> None:
    # Reckonings by hand and promises of our own are `source model`.
    module = parse(Source(block.file or "example.qps", block.body)).value
    claims = [one for one in module.declarations if isinstance(one, Expect)] if module else []
    cited = [one.source for one in claims if one.source and not isinstance(one.source, OwnSource)]
    values = [source.value for source in cited]
    assert not [text for text in values if _OF_NOBODY.match(text)]


MET_EXACTLY = {
    "atm_video": {"f32_as_measured"},  # whole streams
    "wifi_calls": {"six_calls", "upper_bound", "spectralink", "theory"},  # whole calls
}


@pytest.mark.parametrize("spec", spec_figures.named(FIGURES))
def test_no_published_claim_hands_back_what_was_put_in(spec: str) -> None:
    # What a model meets to the last digit may be an input of it: that is the model's own.
    assert spec_figures.met_exactly(spec) == MET_EXACTLY.get(spec, set())


def test_the_list_of_specs_adds_up_its_predictions() -> None:
    result = spec_figures.reported(FIGURES, None)
    of_all = spec_figures.all_predictions(spec_figures.predicting(FIGURES))
    assert result == {
        "all documents": spec_figures.all_documents(),
        "all predictions": of_all,
        "all fits": spec_figures.all_fits(),
    }


def test_fits_hold_the_runs_that_they_have_not_seen_as_the_pages_say() -> None:
    readme = spec_figures.README.read_text(encoding="utf-8")
    assert spec_figures.reported(readme, None) == {"all fits": spec_figures.all_fits()}
    validation = spec_figures.VALIDATION.read_text(encoding="utf-8")
    assert spec_figures.reported(validation, None) == {
        "all documents": spec_figures.all_documents(),
        "all fits": spec_figures.all_fits(),
    }
    held, of = map(sum, zip(*held_of(), strict=True))
    assert held / of > 0.8


def test_the_list_of_specs_has_figures_of_every_spec() -> None:
    specs = {path.stem for path in spec_figures.SPECS.glob("*.qps")}
    assert set(spec_figures.named(FIGURES)) == specs


REFERENCE = "\n".join(
    page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "language").glob("*.md"))
)


def _named_in_reference() -> set[str]:
    return {
        word
        for code in re.findall(r"`([^`\n]+)`", REFERENCE)
        for word in re.findall(r"\w+|\$|%", code)
    } | {word for block in blocks(REFERENCE) for word in re.findall(r"\w+|\$|%", block.body)}


def test_the_reference_names_every_keyword_of_the_grammar() -> None:
    assert len(keywords()) > 100
    assert keywords() - _named_in_reference() == set(), "describe it in docs/language"


def test_the_words_are_those_that_lark_reads() -> None:
    # What is told of as a word may be read as one somewhere, and what is read is told.
    found: set[str] = set()
    for terminal in build_parser().terminals:
        pattern = terminal.pattern.value.replace("\\b", "").partition("(?")[0]
        if re.fullmatch(r"\(?[a-z_|]+\??\)?", pattern):
            found |= set(pattern.strip("()").replace("s?", "|s").split("|")) - {"s"}
    assert found - keywords() == set()
    assert keywords() - found <= {"configurations", *CHOICES}


def test_the_reference_lists_the_words_as_the_grammar_has_them() -> None:
    for page in WORDS:
        text = page.read_text(encoding="utf-8")
        assert with_words(text) == text, "run `python tests/documents/docs.py`"
    starts = (
        "Reserved: `",
        "Free: `",
        "- a resource cannot be",
        "- a kind cannot be",
        "keywords: `",
    )
    assert all(REFERENCE.count(f"\n{start}") == 1 for start in starts)


@pytest.mark.parametrize("page", _PAGES)
def test_no_page_gives_a_reserved_word_as_a_name(page: Path) -> None:
    declared = re.compile(r"^[ \t]*(?:component|machine|network|param|let|node|link|stream) (\w+)")
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind.startswith("qps") and block.kind != "qps mistake":
            named = {m[1] for line in block.body.splitlines() if (m := declared.match(line))}
            assert not named & RESERVED
    # In the text, too: what a recipe tells the reader to write must be read.
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"`(?:component|machine|network|param|let|node|stream) (\w+)", text))
    assert not named & RESERVED


IN_OTHER_WORDS = {ir.MeasureKind.WAIT_QUANTILE.value, ir.MeasureKind.TIME_SHARE.value}
"""Measures without a word of their own: `page.wait.p95`, `share(page.latency > 2 s)`."""


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(set(units.BUILT_IN), id="units"),
        pytest.param(set(FUNCTIONS), id="functions"),
        pytest.param({k.value for k in ir.MeasureKind} - IN_OTHER_WORDS, id="measures"),
        pytest.param({m.value for m in ir.Medium}, id="media"),
        pytest.param({d.value for d in ir.Discipline}, id="disciplines"),
        pytest.param({e.value for e in ir.EffectKind}, id="effects"),
        pytest.param({m.value for m in ir.Metric} - {"formula"}, id="metrics"),
    ],
)
def test_the_reference_names_everything_built_in(names: set[str]) -> None:
    assert names - _named_in_reference() == set()


def _sections(path: str) -> dict[str, str]:
    """Return the texts of a page by the headings of second rank above them."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


COMMON = {"-h", "--help", "-q", "--quiet", "--color"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_section_of_a_command_lists_its_flags_and_no_other(name: str) -> None:
    section = _sections("docs/cli.md")[f"`qps {name}`"]
    parsers = [_subparsers(parser_of(name))[name]]
    if name == "observe":
        parsers += _subparsers(parsers[0]).values()
    flags = {
        flag
        for parser in parsers
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        for flag in action.option_strings
    }
    listed = "\n".join(line for line in section.splitlines() if line.startswith("| `"))
    found = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", listed))
    assert flags - COMMON - found == set()
    assert {one for one in found if one.startswith("--")} - flags == set()


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (found,) = (one for one in parser._actions if isinstance(one.choices, dict))
    return dict(found.choices)


def test_every_code_has_a_line_in_the_list_of_codes() -> None:
    listing = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for code in codes.ALL:
        assert f"{code.id}` {code.slug}" in listing
