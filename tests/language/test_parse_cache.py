"""What was read before and is had again is what reading it anew gives, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.examination import examine
from qps.compiler.syntax import parse_cache
from qps.compiler.syntax.nesting import allow_deep_expressions
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.parse_cache import ParseCache

HERE = Path(__file__).parents[1]
SPECS = [
    *(HERE.parent / "specs" / f"{name}.qps" for name in ("sfu", "iri", "applications/shop")),
    *sorted((HERE / "errors").glob("*.qps"))[::16],
]
EDITS = (
    lambda text: "# moved\n" + text,
    lambda text: text.replace("=", "= =", 1),
    lambda text: text.replace("}", "", 1),
)


def _tree(value: object) -> object:
    """Return a tree as plain values, with its places but not the source that they are in."""
    if isinstance(value, Span):
        return (value.start, value.end)
    if isinstance(value, Source):
        return value.label
    if isinstance(value, Struct):
        fields = (getattr(value, name) for name in value.__struct_fields__)
        return (type(value).__name__, *map(_tree, fields))
    return tuple(map(_tree, value)) if isinstance(value, tuple | list) else value


def _reported(found: tuple[Diagnostic, ...]) -> list[tuple[str, object]]:
    return [(one.message, _tree(one.primary)) for one in found]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_cached_parts_are_read_as_new_ones(path: Path) -> None:
    allow_deep_expressions()
    text = path.read_text(encoding="utf-8", errors="replace")
    stored = ParseCache()
    parse(Source(path.name, text), stored)
    for edit in EDITS:
        source = Source(path.name, edit(text))
        anew, again = parse(source), parse(source, stored)
        assert _tree(again.value) == _tree(anew.value)
        assert _reported(again.diagnostics) == _reported(anew.diagnostics)


def test_places_are_in_the_text_at_hand() -> None:
    stored = ParseCache()
    text = "param one = 1 ms\nparam two = one * 2\n"
    parse(Source("a.qps", text), stored)
    source = Source("b.qps", "users N in 1..2\n" + text)
    module = parse(source, stored).value
    assert module is not None
    assert {item.span.source for item in module.declarations} == {source}
    assert [item.span.text for item in module.declarations][-1] == "param two = one * 2"


def test_no_more_is_cached_than_a_few_thousand_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_cache, "MOST_PARTS", 3)
    stored = ParseCache()
    text = "".join(f"param p{number} = 1\n" for number in range(6))
    source = Source("a.qps", text)
    parse(source, stored)
    starts = [text.index(f"param p{number}") for number in range(6)]
    ends = [*starts[1:], len(text)]
    found = [stored.get(source, *place) is not None for place in zip(starts, ends, strict=True)]
    assert found == [False] * 3 + [True] * 3


def test_a_text_that_is_checked_again_gives_the_same_result() -> None:
    path = SPECS[2]
    text, stored = path.read_text(encoding="utf-8"), ParseCache()
    anew, again = (
        [examine(Source(str(path), one, path.parent), cache=of) for one in (text, "\n" + text)][-1]
        for of in (None, stored)
    )
    assert anew.spec is not None
    assert again.spec is not None
    assert _reported(again.diagnostics) == _reported(anew.diagnostics)
    assert len(again.bindings.every) == len(anew.bindings.every)
