"""Names of what was observed as names in a spec: whatever they hold, none is a word of QPS."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.quantities.units import is_reserved
from qps.grammar.keywords import keywords

_LONGEST = 30
_METHODS = frozenset(
    ("get", "head", "post", "put", "delete", "patch", "options", "connect", "trace")
)
_OF_SYSTEM = ("n", "recorded", "recorded_users", "traced", "waits", "fabric", "calls", "pod")
_OF_LANGUAGE = (
    *("average", "capacity", "case", "count", "group", "largest", "least", "members", "pi"),
    *("request", "requests", "share", "source", "std", "sum", "user", "users"),
)
_RESERVED = frozenset((*_OF_SYSTEM, *_OF_LANGUAGE))
_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")


class SpecNames:
    """Names given so far; none is given twice."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def new(self, *texts: str, more: str, endings: Iterable[str] = ("",)) -> str:
        """Return a name for texts that is free, with all `endings`, which are then given.

        A word of the language gets `more` behind it.
        """
        endings = (*endings, "")
        base = "_".join(filter(None, map(identifier, texts))) or more
        if is_word(base) or not base[0].isalpha():
            base = f"{more}_{base}" if not base[0].isalpha() else f"{base}_{more}"
        name, number = base, 1
        while any(name + ending in self.names or is_word(name + ending) for ending in endings):
            number += 1
            name = f"{base}_{number}"
        self.names.update(name + ending for ending in endings)
        return name


def identifier(text: str) -> str:
    """Return a text in small letters, digits and `_`; nothing where it has none of them.

    >>> identifier("Cart Service (v2)"), identifier("GetSupportedCurrencies"), identifier("→")
    ('cart_service_v2', 'get_supported_currencies', '')
    """
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = _OTHER.sub("_", _BREAK.sub("_", plain).lower()).strip("_")
    return words[:_LONGEST].strip("_")


def short_operation(operation: str) -> str:
    """Return what names an operation: of gRPC the method, of HTTP the method and the route.

    >>> short_operation("hipstershop.CartService/GetCart"), short_operation("GET /cart/{id}")
    ('GetCart', 'GET cart')
    """
    text = operation.replace("{id}", " ")
    method, _, route = text.partition(" ")
    if method.lower() in _METHODS and route:
        parts = [part for part in route.split("/") if part.strip()]
        return f"{method} {' '.join(parts or ['root'])}"
    return text.rsplit("/", 1)[-1].strip() if "/" in text and " " not in text.strip() else text


def is_word(name: str) -> bool:
    """Return whether a name means something in the language already."""
    return (
        name in _RESERVED or name in keywords() or is_reserved(name) or name in LANGUAGE_FUNCTIONS
    )
