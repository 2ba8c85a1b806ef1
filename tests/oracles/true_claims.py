"""Where a page says of claims what `qps test --format json` does not say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from browsers.page_numbers import ShownTable
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.reports.text.claims.claim_formats import ClaimOutcomes
from qps.reports.text.claims.claim_quantities import relative_error
from qps.reports.text.claims.claim_values import claims_json
from qps.reports.text.words.quantities import number, percent, quantity, scales
from qps.solver.claims.claim_results import ClaimResult

HEAD = ("Outcome", "Claim", "Claimed", "Predicted", "Error", "Source")
_DIGITS = (3, 4)

Amounts = Callable[[Iterable[str]], set[tuple[str, str]]]
"""Gives the numbers of texts, each with its unit and without."""


def printed_claims(claims: tuple[ClaimResult, ...]) -> dict[str, Any]:
    """Return what `qps test --format json` prints of claims."""
    printed: Any = claims_json(ClaimOutcomes(results=claims))
    return printed


def wrong_claims(
    table: ShownTable, claims: tuple[ClaimResult, ...], amounts: Amounts
) -> Iterator[str]:
    """Yield where the claims of a page are others than those of the test, or have other numbers."""
    entries = printed_claims(claims)["expectations"]
    if table.head != HEAD:
        yield f"nobody compares {table.head}"
        return
    if len(entries) != len(table.rows):
        yield f"{len(table.rows)} claims, not {len(entries)}"
        return
    for entry, result, row in zip(entries, claims, table.rows, strict=True):
        verdict, claim, claimed, predicted, error, _ = row
        fails = entry["verdict"] in ("fails", "stale")
        wanted = "fails" if fails else entry["verdict"]
        if verdict.lights != (wanted,):
            yield f"{entry['name']} {verdict.lights}, not {wanted}"
        if not claim.text.endswith(entry["name"]):
            yield f"{claim.text} stands where {entry['name']} should"
        off = entry["relative_difference"]
        off = result.relative_difference if off is None else off
        if error.text != ("" if off is None else relative_error(off)):
            yield f"{entry['name']} is off by {error.text}, not {off}"
        for cell, true in (
            (claimed, {*_claimed(entry, result)}),
            (predicted, {*_predicted(entry, result)}),
        ):
            found = {(n, "" if word == "within" else word) for n, word in amounts([cell.text])}
            strange = found - amounts(true)
            is_left_out = result.kind != "unclaimed" and not found and any(amounts(true))
            if strange or is_left_out:
                yield f"{entry['name']}: nobody knows {sorted(strange)} of {cell.text!r}"


def _claimed(entry: Any, result: ClaimResult) -> Iterator[str]:
    """Yield all that may be written of what is claimed; of a condition, that itself."""
    if isinstance(entry["claimed"], str):
        yield entry["claimed"]
    elif result.claimed is not None:
        yield from _texts(entry["claimed"], result.dimension)
    if entry["half_width"] is not None:
        yield from _texts(entry["half_width"], result.dimension)
    yield from filter(None, (entry["within"], entry["title"], result.text))


def _predicted(entry: Any, result: ClaimResult) -> Iterator[str]:
    """Yield all that may be written of what the model says, its interval among that."""
    if entry["counted"]:
        yield entry["counted"]
    elif isinstance(entry["predicted"], list):
        for value, side in zip(entry["predicted"], result.compared, strict=True):
            yield from _texts(value, side.dimension)
    elif result.predicted is not None:
        yield from _texts(entry["predicted"], result.dimension)
    interval = entry["interval"]
    if interval is None:
        return
    ends = interval["least"], interval["most"]
    for end in ends:
        yield from _texts(end, result.dimension)
        off = abs(entry["claimed"] - end)
        yield percent(off / abs(end), 2) if end else next(_texts(off, result.dimension))


_ITEMS = ("frame", "packet", "request")
"""Of what claims of these specs are costs."""


def _texts(value: float | None, dimension: Dimension) -> Iterator[str]:
    """Yield a value of JSON, where what has no finite value is null, as a page may write it."""
    if value is None:
        yield "∞"
        return
    yield f"{value:,.0f}"
    for digits in _DIGITS:
        yield quantity(value, dimension, digits)
        if dimension == DIMENSIONLESS:
            yield quantity(value, dimension, digits, share=True)
        for factor, unit in scales(dimension):  # a prediction is written in the unit of its claim
            text = number(value / factor, digits)
            yield from (text, f"{text} {unit}", *(f"{text} {unit}/{item}" for item in _ITEMS))
