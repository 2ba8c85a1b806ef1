"""The table of methods: its rows are whole, each is reached by some spec, and the page is of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from documents import method_page
from documents.method_specs import SPECS
from helpers.labels import labels_at
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.labels.pool_premises import OF_POOLS
from qps.compiler.lower.labels.premises import OF_CLASSES, OF_STATIONS
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file
from qps.compiler.quantities.certainty import EXACT, CertaintyKind, together
from qps.compiler.quantities.method_sources import SOURCES
from qps.compiler.quantities.methods import METHODS, PREMISES, Of, UnknownMethodError, known_by
from simulated.generated import spec_of
from simulated.judge import graph_of

ROOT = Path(__file__).resolve().parents[2]
THEOREMS = [name for name, one in METHODS.items() if one.kind is CertaintyKind.EXACT]
_ARGUMENT = re.compile(r"""(?:known_by|reason_of)\(\s*"([a-z0-9-]+)\"""")


def test_a_method_without_a_row_is_a_fault() -> None:
    with pytest.raises(UnknownMethodError):
        known_by("no-such-method", "a.cpu")


@pytest.mark.parametrize("name", METHODS)
def test_a_row_is_whole(name: str) -> None:
    one = METHODS[name]
    assert one.of
    assert PREMISES.keys() >= {*one.premises, *one.fails}
    assert SOURCES.keys() >= set(one.sources)
    assert all(METHODS[theorem].kind is CertaintyKind.EXACT for theorem in one.instead)
    assert bool(one.reason) is (one.kind is not CertaintyKind.EXACT)
    assert one.kind is CertaintyKind.APPROXIMATION or not (one.error or one.errors or one.up_to)


def test_every_premise_and_source_is_that_of_a_row() -> None:
    rows = METHODS.values()
    assert PREMISES.keys() == {each for one in rows for each in (*one.premises, *one.fails)}
    assert SOURCES.keys() == {each for one in rows for each in one.sources}


def test_every_premise_is_checked_on_the_network() -> None:
    assert OF_STATIONS.keys() | OF_CLASSES.keys() | OF_POOLS.keys() == PREMISES.keys()
    assert len(OF_STATIONS) + len(OF_CLASSES) + len(OF_POOLS) == len(PREMISES)


def test_theorems_stay_with_what_is_exact() -> None:
    erlang, pool = known_by("erlang-c", "a.cpu"), known_by("pool-wait", "a.threads", case="alike")
    assert erlang.is_exact
    assert not erlang.reasons
    assert [one.method for one in together(EXACT, erlang).theorems] == ["erlang-c"]
    both = together(erlang, pool)
    assert both.kind is CertaintyKind.APPROXIMATION
    assert both.methods == {"pool-wait"}
    assert [one.method for one in both.theorems] == ["erlang-c"]


def test_an_error_is_that_of_the_case() -> None:
    assert known_by("mixed-erlang-c", "a.cpu", apart=4.0).error == 0.06
    assert known_by("mixed-erlang-c", "a.cpu", apart=60.0).error is None
    assert known_by("priority-gamma", "a.cpu", case="preemptive").error == 0.55
    [result] = known_by("priority-gamma", "a.cpu", case="preemptive").reasons
    assert result.startswith(
        "queueing delay of each priority at `a.cpu` is assumed to be gamma distributed: "
    )
    assert result.endswith("within 55 %")
    unproven = known_by("one-fast-core", "a.cpu", is_proven=False)
    assert unproven.kind is CertaintyKind.APPROXIMATION


_SAYS_HOW = re.compile(r"simulated|exact|within")


def test_an_error_says_how_it_was_measured() -> None:
    for name, one in METHODS.items():
        if one.error or one.errors or one.up_to:
            values = (one.measured, one.reason, *one.notes.values())
            assert any(map(_SAYS_HOW.search, values)) or one.measured, name


_STATED = ("error", True)
_ERROR_CALLS = {"known_by", "reason_of", "approximation", "Certainty"}


def _is_named_call(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _is_number(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and bool(node.value)


def _floats_for_errors(text: str) -> Iterator[int]:
    """Yield the lines at which code states an error: beside the calls that take one, or as one."""
    tree = ast.parse(text)
    called = {one.func.id for one in ast.walk(tree) if _is_named_call(one)}
    for node in ast.walk(tree):
        if called & _ERROR_CALLS and _is_number(node) and isinstance(node.value, float):
            yield node.lineno
        elif isinstance(node, ast.keyword) and (node.arg, _is_number(node.value)) == _STATED:
            yield node.value.lineno


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("known_by('a', error=_MOST)\n_MOST = 0.3", [2]),
        ("replace(one, error=1)", [1]),
        ("known_by('a', error=one.error or 0.0)", []),
        ("wait(0.5)", []),
    ],
)
def test_an_error_in_code_is_found(text: str, found: list[int]) -> None:
    assert list(_floats_for_errors(text)) == found


def test_errors_stand_in_tables_alone() -> None:
    for file in sorted((ROOT / "compiler" / "lower").rglob("*.py")):
        assert not list(_floats_for_errors(file.read_text(encoding="utf-8"))), file


def test_the_page_is_that_of_the_table() -> None:
    assert method_page.PAGE.read_text(encoding="utf-8") == method_page.page()


def _reached(graph: LoadGraph) -> set[str]:
    found = {
        reason.method
        for at in {graph.low, graph.high}
        for _, known in labels_at(graph, at)
        for reason in (*known.because, *known.theorems)
    }
    fails = (one.doubts.checks.fails for one in graph.streams.values())
    return found | {
        reason.method
        for each in fails
        for places in each.values()
        for reasons in places.values()
        for reason in reasons
    }


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_reaches_its_method(name: str) -> None:
    assert name in _reached(lowered(SPECS[name]))


def test_every_method_of_an_answer_is_named_by_code() -> None:
    named = {
        name
        for folder in ("compiler", "solver")
        for file in (ROOT / folder).rglob("*.py")
        for name in _ARGUMENT.findall(file.read_text(encoding="utf-8"))
    }
    assert named <= METHODS.keys()
    assert {name for name, one in METHODS.items() if Of.ANSWER in one.of} <= named


def _graphs() -> Iterable[LoadGraph]:
    for folder in ("networks", "requests"):
        for file in sorted((ROOT / "tests" / folder).rglob("*.qps")):
            spec = check_file(file).value
            if spec is not None and not spec.program.is_module:
                yield lower(spec.model, spec.configuration(None))
    for seed in range(400):
        try:
            yield graph_of(spec_of(seed))
        except QpsError:  # what is refused reaches nothing
            continue


@pytest.mark.nightly
def test_every_method_is_reached() -> None:
    by_hand = {"batch-erlang-c"}  # no copies leave cores together: test_certainty makes the queue
    left = {name for name, one in METHODS.items() if Of.ANSWER not in one.of} - SPECS.keys()
    left -= by_hand
    for graph in _graphs():
        left -= _reached(graph)
        if not left:
            break
    assert not left


def test_an_exact_number_names_its_theorem() -> None:
    for name in ("cosmetatos", "nelson-tantawi", "one-fast-core", "whole-batch"):
        graph = lowered(SPECS[name])
        for quantity, known in labels_at(graph, graph.high):
            is_time = quantity.startswith("s.") and not quantity.endswith((".buffer", ".queue"))
            if is_time and known.is_exact:
                assert known.theorems, quantity
