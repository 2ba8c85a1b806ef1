"""The request that a matrix answers, in words: it is stored with the results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from qps.compiler.ir.measure_names import current_column
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A matrix in the spec's own words.

    `configurations` counts all that there are before any is left out, `parts` holds pairs such as
    `where` and its condition, `order` the columns to sort by and whether from the largest on; `at`
    is the population at which loads, quality and cost are reported, None for the largest
    acceptable.
    """

    file: str
    model: str
    matrix: str
    title: str
    population: str
    at: int | None
    configurations: int
    parts: tuple[tuple[str, str], ...]
    order: tuple[tuple[str, bool], ...]

    @property
    def as_text(self) -> str:
        """The same as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def request_of(compiled: CompiledMatrix) -> Request:
    """Return the request of a matrix."""
    matrix, model = compiled.matrix, compiled.model
    return Request(
        file=model.file,
        model=model.name,
        matrix=matrix.name,
        title=matrix.title or "",
        population=model.population.name,
        at=matrix.at,
        configurations=compiled.size,
        parts=matrix.parts,
        order=tuple((key.column, key.is_descending) for key in matrix.order),
    )


def read_request(found: Mapping[str, Any]) -> Request | None:
    """Return the request in a file; None if it has another form."""
    texts = {name: found.get(name) for name in ("file", "model", "matrix", "title", "population")}
    at, count = found.get("at"), found.get("configurations")
    parts, order = found.get("parts"), found.get("order")
    is_sound = all(isinstance(text, str) for text in texts.values()) and _is_count(count)
    if not is_sound or not (at is None or _is_count(at)):
        return None
    if not _are_pairs(parts, str) or not _are_pairs(order, bool):
        return None
    by = tuple((current_column(name), is_descending) for name, is_descending in order)  # type: ignore[union-attr]
    pairs = {"parts": tuple(map(tuple, parts)), "order": by}  # type: ignore[arg-type]
    return Request(**texts, at=at, configurations=count, **pairs)  # type: ignore[arg-type]


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_pairs(value: object, second: type) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and list(map(type, pair)) == [str, second] for pair in value
    )
