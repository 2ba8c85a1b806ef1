"""A spec in which every name is another one, by the table of what names mean.

What the checker makes of it is the same model with other names: the strongest test of that table,
since a name that is missed is unknown, and one that is taken for another makes another model.
"""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.check.names.bindings import Bindings
from qps.compiler.diagnostics.source import Source, Span

MARK = "_q9z"


def renamed(source: Source, bindings: Bindings) -> Source:
    """Return a text in which all that it declares itself, and can be renamed, has a mark."""
    text = source.text
    for binding in reversed(bindings.in_file(source)):
        symbol = binding.symbol
        own = all(span.source is source for span in symbol.declared)
        if own and bindings.can_be_renamed(symbol):
            span = binding.span
            text = text[: span.start] + binding.renamed(symbol.name + MARK) + text[span.end :]
    return Source(source.label, text, source.folder)


def plain(value: object) -> object:
    """Return a model without marks and without places, to compare with another one."""
    if isinstance(value, str):
        return value.replace(MARK, "")
    if isinstance(value, Span | None):
        return None
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, map(plain, value)))
    return repr(value).replace(MARK, "")
