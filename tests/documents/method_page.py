"""The page of methods, docs/methods.md, made of the table of methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from documents.docs import ROOT
from qps.compiler.lower.labels.pool_premises import OF_POOLS
from qps.compiler.lower.labels.premises import OF_CLASSES, OF_STATIONS
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.method_sources import SOURCES
from qps.compiler.quantities.methods import METHODS, PREMISES, Method, Of
from qps.compiler.quantities.scales import percent

PAGE = ROOT / "docs" / "methods.md"
_CHECKED = OF_STATIONS.keys() | OF_CLASSES.keys() | OF_POOLS.keys()


def page() -> str:
    """Return docs/methods.md: theorems, premises, bounds and approximations, and sources."""
    head = PAGE.read_text(encoding="utf-8").partition("\n## ")[0].rstrip("\n")
    return head + "\n" + "\n".join(_sections())


def _sections() -> Iterator[str]:
    theorems = {name: one for name, one in METHODS.items() if one.kind is CertaintyKind.EXACT}
    yield "\n## Theorems\n"
    yield from _rows(
        ("Theorem", "Result", "Premises", "Source"),
        (
            (_named(name), _of(one), _premises(one.premises), _cited(one))
            for name, one in theorems.items()
        ),
    )
    yield "\n## Premises\n"
    yield from _rows(
        ("Premise", "Meaning", "Checked"),
        (
            (
                f'<a id="premise-{name}"></a>{one.name}',
                one.sentence,
                "on the network" if name in _CHECKED else "by the formula",
            )
            for name, one in PREMISES.items()
        ),
    )
    for kind, title in (
        (CertaintyKind.UPPER_BOUND, "Upper bounds"),
        (CertaintyKind.LOWER_BOUND, "Lower bounds"),
        (CertaintyKind.APPROXIMATION, "Approximations"),
    ):
        rows = {name: one for name, one in METHODS.items() if one.kind is kind}
        yield f"\n## {title}\n"
        headings = ("Method", "Result", "Violated premises", "Instead of", "Source")
        values = (
            (_named(name), _of(one), _premises(one.fails), _instead(one), _cited(one))
            for name, one in rows.items()
        )
        if kind is not CertaintyKind.APPROXIMATION:
            yield from _rows(headings, values)
            continue
        errors = (_error(one) for one in rows.values())
        found = ((*row[:2], error, *row[2:]) for row, error in zip(values, errors, strict=True))
        yield from _rows((*headings[:2], "Error", *headings[2:]), found)
    yield "\n## Sources\n"
    yield from (f"- {text}." for text in SOURCES.values())
    yield ""


def _rows(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _named(name: str) -> str:
    return f'<a id="{name}"></a>{METHODS[name].name}'


def _of(one: Method) -> str:
    return ", ".join("percentiles" if of is Of.QUANTILE else of.value for of in one.of)


def _premises(premises: Iterable[str]) -> str:
    return ", ".join(f"[{PREMISES[each].name}](#premise-{each})" for each in premises)


def _instead(one: Method) -> str:
    return ", ".join(f"[{METHODS[each].name}](#{each})" for each in one.instead)


def _cited(one: Method) -> str:
    return "; ".join(one.sources)


def _error(one: Method) -> str:
    return f"{_stated(one)}: {one.measured}" if one.measured else _stated(one)


def _stated(one: Method) -> str:
    if one.error is not None:
        return percent(one.error, 2)
    steps = (error for each in one.up_to.values() for _, error in each)
    stated = sorted({*one.errors.values(), *steps})
    if not stated:
        return ""
    low, high = percent(stated[0], 2), percent(stated[-1], 2)
    return low if low == high else f"{low.removesuffix(' %')}–{high}"


def write_all() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
