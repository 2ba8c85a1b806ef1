"""What every name in a text means: none is left open, and by it every name can be another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents.docs import PAGES, blocks
from helpers.renaming import MARK, plain, renamed
from qps.compiler.check.names.bindings import Binding, Bindings, bindings_of
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.fallback_resolution import resolve_fallbacks
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.check.names.resolve import resolve
from qps.compiler.diagnostics.source import Source
from qps.compiler.examination import TextExamination, examine
from qps.compiler.pipeline import check_source, importer_of
from qps.compiler.syntax.importer import read_spec

SPECS = sorted((Path(__file__).parents[2] / "specs").rglob("*.qps"))
DEAR = {
    "atm_video", "flying", "audioconference", "voip_trunk", "mtp", "virtual_cockpit", "jitter",
    "mqtt_broker",
}  # fmt: skip
"""Specs that take long to check, with nothing to rename that others lack."""

SMALL = """users N in 1..100
unit job
kinds region { us 60 %; eu 40 % }
option codec = wide or narrow
param size = if codec == wide then 2 else 1
func twice(x) = x * 2
machine box { cpu 4 core }
component work { cpu twice(size) * 1 ms/job }
topology { node web for each region = box; link lan = wire between web }
network wire { shared; rate 1 Gbit/s }
stream page in all in each region {
  traffic N * 3 jobs/s, 1 kB/job
  at web { work }
}
require { page.latency <= 50 ms; web.cpu.load <= 80 % }
scenario slim { codec = narrow }
expect claims { web.us.cpu.load < 1 with scenario = slim, N = 2; source model "by hand" }
"""


def _examined(path: Path) -> TextExamination:
    source = read_spec(path).value
    assert source is not None
    return examine(source)


def _open(bindings: Bindings) -> list[str]:
    return [f"{name.span.place}: {name.span.text}" for name in bindings.unresolved]


def _first(examined: TextExamination, text: str, part: str) -> Binding:
    """Return what a part of a text means that stands in it once."""
    source = examined.source
    assert source.text.count(text) == 1, text
    found = examined.bindings.at(source, source.text.index(text) + text.index(part))
    assert found is not None
    return found


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_names_of_a_spec_are_settled_and_can_be_others(path: Path) -> None:
    examined = _examined(path)
    assert examined.spec is not None
    assert not _open(examined.bindings)
    if path.stem in DEAR:
        return
    other = renamed(examined.source, examined.bindings)
    assert MARK in other.text
    checked = check_source(other)
    assert checked.value is not None, [f"{d.primary}: {d.message}" for d in checked.diagnostics]
    assert plain(checked.value.model) == plain(examined.spec.model)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_in_examples_of_the_documentation_are_settled(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "qps":
            examined = examine(Source("example.qps", block.body, page.parents[0]))
            assert examined.spec is None or not _open(examined.bindings)


@pytest.mark.parametrize(
    ("text", "part", "kind", "declared"),
    [
        ("size = if", "size", "parameter", "size = if"),
        ("twice(size)", "size", "parameter", "size = if"),
        ("twice(size)", "twice", "function", "twice(x)"),
        ("x * 2", "x", "formal", "x) ="),
        ("codec == wide", "wide", "choice", "wide or"),
        ("codec = narrow }", "narrow", "choice", "narrow\n"),
        ("3 jobs", "jobs", "unit", "job\n"),
        ("1 kB/job", "kB", "unit", None),
        ("each region {", "region", "kinds", "region {"),
        ("web.us.cpu", "web", "node", "web for"),
        ("web.us.cpu", "us", "kind", "us 60"),
        ("us.cpu.load", "cpu", "resource", "cpu 4"),
        ("us.cpu.load", "load", "word", None),
        ("web.cpu.load <= 80", "web", "node", "web for"),
        ("web.cpu.load <= 80", "cpu", "resource", "cpu 4"),
        ("page.latency", "page", "stream", "page in"),
        ("with scenario = slim", "scenario", "word", None),
        ("with scenario = slim", "slim", "scenario", "slim {"),
        ("slim, N = 2", "N", "population", "N in"),
    ],
)
def test_parts_of_names_mean_what_declares_them(
    small: TextExamination, text: str, part: str, kind: str, declared: str | None
) -> None:
    found = _first(small, text, part)
    assert (found.span.text, found.symbol.kind) == (part, kind)
    at = [small.source.text.index(declared)] if declared else []
    assert [span.start for span in found.symbol.declared] == at


@pytest.fixture(scope="module")
def small() -> TextExamination:
    examined = examine(Source("small.qps", SMALL))
    assert not [found.message for found in examined.diagnostics if found.is_error]
    return examined


def test_every_place_of_a_symbol_is_known(small: TextExamination) -> None:
    symbol = _first(small, "unit job", "job").symbol
    bindings = small.bindings
    found = [binding.renamed("query") for binding in bindings.of(symbol)]
    assert found == ["query", "query", "queries", "query"]
    assert bindings.can_be_renamed(symbol)
    assert not bindings.can_be_renamed(_first(small, "1 kB/job", "kB").symbol)


def test_a_mistake_leaves_other_names_settled() -> None:
    text = SMALL.replace("twice(size) *", "twice(siez) *")
    examined = examine(Source("small.qps", text))
    assert _open(examined.bindings) == [f"{examined.source.label}:8: siez"]
    assert _first(examined, "web.cpu.load <= 80", "web").symbol.kind == "node"


@pytest.mark.parametrize("name", ["applications/shop", "iri"])
def test_names_that_were_not_checked_mean_the_same(name: str) -> None:
    examined = _examined(SPECS[0].parents[1] / f"{name}.qps")
    source, checked = examined.source, examined.bindings
    noted: Noted[LoadedModule] = Noted()
    program = resolve(examined.noted.trees[source], importer_of(source), noted).value
    assert program is not None
    resolve_fallbacks(program, noted)
    found = bindings_of(noted).in_file(source)
    assert len(found) > 0.7 * len(checked.in_file(source))
    others = [
        f"{one.span.place}: {one.span.text}"
        for one in found
        if _place(one) != _place(checked.at(source, one.span.start))
    ]
    assert not others


def _place(binding: Binding | None) -> object:
    """Return what a name means, in words: the files of two checks are other objects."""
    if binding is None:
        return None
    declared = [(span.source.label, span.start) for span in binding.symbol.declared]
    return binding.symbol.kind, binding.symbol.name, declared


def test_names_in_tables_of_runs_are_not_to_be_changed() -> None:
    bindings = _examined(SPECS[0].parents[1] / "capacity.qps").bindings
    named = {symbol.name for symbol in bindings.of_data if symbol.declared}
    assert {"slc", "ipx", "ws"} <= named
    assert not any(map(bindings.can_be_renamed, bindings.of_data))
