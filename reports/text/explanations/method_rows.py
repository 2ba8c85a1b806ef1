"""By which methods a number is known: rows of the table, with the premises that hold and fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.lower.label_doubts import Checks
from qps.compiler.quantities.certainty import Certainty, CertaintyKind, Reason
from qps.compiler.quantities.methods import METHODS, PREMISES
from qps.reports.text.layout.table import Table
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent


class ExplainedPremise(Struct, frozen=True, kw_only=True):
    """A premise of a theorem, and the places where it `fails` (empty if it holds everywhere)."""

    id: str
    premise: str
    fails: tuple[str, ...] = ()


class ExplainedMethod(Struct, frozen=True, kw_only=True):
    """A method used to compute a number, and the places `at` which it is used.

    `kind` and `error` are those of the method alone; a theorem has `premises`.
    """

    id: str
    name: str
    at: tuple[str, ...]
    kind: str
    error: float | None
    sources: tuple[str, ...]
    premises: tuple[ExplainedPremise, ...] = ()


def explained_methods(known: Certainty, checks: Checks) -> tuple[ExplainedMethod, ...]:
    """Return the theorems on which a number rests, and what stands instead of others."""
    used = _places(known.because)
    theorems = _places(known.theorems)
    for method in used:
        instead = METHODS[method].instead
        if instead and theorems.keys().isdisjoint(instead):
            theorems.setdefault(instead[0], {}).update(used[method])
    return tuple(
        ExplainedMethod(
            id=method,
            name=METHODS[method].name,
            at=tuple(at),
            kind=METHODS[method].kind.value,
            error=METHODS[method].error,
            sources=METHODS[method].sources,
            premises=tuple(_premises(method, at, known.because, checks)),
        )
        for method, at in {**theorems, **used}.items()
    )


def _places(reasons: Iterable[Reason]) -> dict[str, dict[str, None]]:
    """Return the places at which methods are used, of each method once."""
    found: dict[str, dict[str, None]] = {}
    for one in reasons:
        found.setdefault(one.method, {}).update(dict.fromkeys(one.at))
    return found


def _premises(
    method: str, places: Iterable[str], because: Iterable[Reason], checks: Checks
) -> Iterator[ExplainedPremise]:
    """Yield the premises of a theorem, each with the places where it fails.

    It fails where a check on the network says so, and where another method stands instead.
    """
    row = METHODS[method]
    if row.kind is not CertaintyKind.EXACT:
        return
    at = tuple(places)
    for premise in row.premises:
        relevant = [one for one in because if premise in METHODS[one.method].fails]
        is_instead = [one for one in relevant if method in METHODS[one.method].instead]
        fails = dict.fromkeys(p for one in is_instead for p in one.at)
        fails |= dict.fromkeys(p for one in relevant for p in one.at if p in at)
        fails |= dict.fromkeys(p for p in at if checks.of(premise, p))
        yield ExplainedPremise(id=premise, premise=PREMISES[premise].sentence, fails=tuple(fails))


def methods_tables(methods: Iterable[ExplainedMethod], labels: Labels) -> list[Table]:
    """Return the methods, and the premises of the theorems among them, as tables."""
    found = tuple(methods)
    rows = tuple(
        (one.name, _at(one.at, labels), _result(one), "; ".join(one.sources)) for one in found
    )
    table_rows = [(one.name, ", ".join(_holding(one)), _failing(one, labels)) for one in found]
    theorems = [row for row, one in zip(table_rows, found, strict=True) if one.premises]
    width = 3 if any(failing for *_, failing in theorems) else 2
    headings = ("Theorem", phrase("explain.assumptions_met"), phrase("explain.not_met"))[:width]
    return [
        Table(("Method", "At", "Result", "Source"), rows, long=frozenset([0, 1, 3])),
        Table(headings, tuple(row[:width] for row in theorems), long=frozenset(range(width))),
    ]


def _holding(one: ExplainedMethod) -> list[str]:
    return [PREMISES[each.id].name for each in one.premises if not each.fails]


def _failing(one: ExplainedMethod, labels: Labels) -> str:
    found = ((PREMISES[each.id].name, each.fails) for each in one.premises if each.fails)
    return "; ".join(f"{name} ({_at(places, labels)})" for name, places in found)


def _result(one: ExplainedMethod) -> str:
    if any(each.fails for each in one.premises):
        return phrase("explain.not_applicable")
    return one.kind if one.error is None else f"±{percent(one.error)}"


def _at(places: Iterable[str], labels: Labels) -> str:
    return ", ".join(map(labels.of, places))
