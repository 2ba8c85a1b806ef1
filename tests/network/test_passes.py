"""What follows from a network is found by a list of passes: each is pure, and each is described."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import MethodType
from typing import Any

import pytest
from msgspec import Struct

from qps.compiler.configure.configuration import in_force
from qps.compiler.lower import analyze
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.requirements.stated_facts import stated_of
from qps.compiler.lower.traffic.build_network import build_network
from qps.compiler.pipeline import load
from qps.engine.expressions.formulas import Formula, population
from qps.engine.expressions.substitution import Substitution

ROOT = Path(__file__).parents[2]
SPECS = [
    "specs/iri.qps",  # elastic parameters
    "specs/applications/shop.qps",  # pools that are open
    "specs/textbook/lqns/lqns_pyramid.qps",  # pools of users who wait
    "specs/textbook/octave_queueing/mmck.qps",  # a finite room
]


def list_of_passes() -> list[str]:
    """Return the names of the passes in their order: functions that `analyze` calls line by line.

    Each line is a call whose value has a name of its own, and nothing else.
    """
    (function,) = ast.parse(inspect.getsource(analyze.analyze)).body
    assert isinstance(function, ast.FunctionDef)
    names: list[str] = []
    found: set[str] = set()
    for line in function.body[1:-1]:  # the docstring, and what is returned
        assert isinstance(line, ast.Assign | ast.Expr)
        if isinstance(line, ast.Assign):
            (target,) = line.targets
            assert isinstance(target, ast.Name)
            assert target.id not in found, f"{target.id} is another value from here on"
            found.add(target.id)
        if isinstance(line.value, ast.Call) and isinstance(line.value.func, ast.Name):
            names.append(line.value.func.id)
    return [name for name in names if inspect.isfunction(getattr(analyze, name))]


class Snapshot:
    """Numbers that are the same for values that are alike, however deep these are."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._alive: list[object] = []

    def of(self, *values: object) -> int:
        return self._of(values, {})

    def _of(self, value: object, known: dict[int, int]) -> int:
        if id(value) not in known:
            self._alive.append(value)
            plain = self._plain(value, known)
            known[id(value)] = self._numbers.setdefault(plain, len(self._numbers))
        return known[id(value)]

    def _plain(self, value: object, known: dict[int, int]) -> object:
        if isinstance(value, Formula | Enum | str | int | float | None):
            return type(value), value
        if isinstance(value, Struct):
            if isinstance(value, ExpressionLowering):  # its notes grow
                return type(value)
            fields = (name for name in value.__struct_fields__ if not name.startswith("_"))
            return type(value), *(self._of(getattr(value, name), known) for name in fields)
        if isinstance(value, Mapping):
            return dict, *((self._of(k, known), self._of(v, known)) for k, v in value.items())
        if isinstance(value, list | tuple):
            return type(value), *(self._of(one, known) for one in value)
        if isinstance(value, set | frozenset):
            return frozenset(self._of(one, known) for one in value)
        if isinstance(value, MethodType):  # of a frozen value
            return value.__name__, self._of(value.__self__, known)
        assert not hasattr(value, "__dict__") or isinstance(value, Substitution), type(value)
        return type(value)


def test_a_snapshot_shows_what_was_changed() -> None:
    """What the next test rests on: a change deep in a value is seen."""
    snapshot, value = Snapshot(), {"a": [1, {"b": 2}]}
    before = snapshot.of(value)
    assert snapshot.of({"a": [1, {"b": 2}]}) == before
    value["a"].append(3)  # type: ignore[union-attr]
    assert snapshot.of(value) != before


@pytest.mark.parametrize("name", SPECS)
def test_a_pass_finds_the_same_twice_and_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot, called, order = Snapshot(), list[str](), list_of_passes()

    def twice(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def checked(*given: Any, **more: Any) -> object:
            called.append(name)
            numbers = [one for one in given if isinstance(one, ExpressionLowering)]
            noted = [(one.assumptions.copy(), one._parameters.copy()) for one in numbers]
            before, first = snapshot.of(*given), real(*given, **more)
            found = snapshot.of(first)
            assert snapshot.of(*given) == before, "it changes what it was given"
            assert snapshot.of(real(*given, **more)) == found, "it finds something else again"
            assert snapshot.of(first) == found, "it changes what it has found"
            for one, (assumptions, parameters) in zip(numbers, noted, strict=True):
                assert one.assumptions.items() >= assumptions.items(), "notes only grow"
                assert one._parameters.items() >= parameters.items(), "values stay"
            return first

        return checked

    for one in order:
        monkeypatch.setattr(analyze, one, twice(one, getattr(analyze, one)))
    spec = load(ROOT / name)
    numbers = ExpressionLowering(
        model=spec.model,
        configuration=in_force(spec.configuration()),
        population=population(spec.model.population.name),
    )
    network = build_network(numbers)
    analyze.analyze(network, stated_of(network, numbers), numbers, by_points=True)
    assert called == order


def test_every_pass_is_described_in_the_order_of_the_list() -> None:
    described = re.findall(r"^\d+\. `(\w+)`: .+$", str(analyze.__doc__), re.MULTILINE)
    assert described == list(list_of_passes())
