"""A page's scripts as one: modules of ECMAScript put together, in order, with nothing to load.

Modules keep to a part of the standard that needs no parser. All imports are lines
`import { name, other } from "./module.js";` at the head of a module. What it exports is
`export const`, `export class` or `export function`, one name a line, at the left margin. No name
is exported that changes, and no modules import each other in a circle. Whatever else begins with
`import` or `export` is refused. Lines that are comments, from `//` on, and what lines are set in by
stay behind: whoever reads scripts finds them here; no text in a module goes on over lines. So a
linked module means what a browser or Node make of it: it becomes a function that runs once and
returns its exports, and nothing is in the open. Modules may be left out, with all that they alone
import: what they export is nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from posixpath import dirname, join, normpath

_IMPORT = re.compile(r'import (\{[\w, ]+\}) from "(\.[\w./]+\.js)";\n')
_HEAD = re.compile(rf"(?:(?://.*)?\n|{_IMPORT.pattern})*")
_EXPORT = re.compile(
    r"^export (?=(?:(?:async )?function\*? |class )(\w+)|const (\w+) =)", re.MULTILINE
)
_LEFT_OUT = re.compile(r"^ *(?://.*\n)?", re.MULTILINE)
_REFUSED = re.compile(r"^(?:import|export)\b.*|\bimport *[.(].*|(?i:</script|<!--).*", re.MULTILINE)


class LinkError(Exception):
    """Raised for modules that cannot be linked: a fault of ours, never of a spec."""


def link(entry: str, read: Callable[[str], str], without: Collection[str] = ()) -> str:
    r"""Return a script that runs a module and all that it imports; `read` has a module's text.

    The modules `without` which it does are left out.

    >>> modules = {
    ...     "app.js": 'import { twice } from "./sums/two.js";\nconsole.log(twice(2));\n',
    ...     "sums/two.js": "export function twice(x) { return 2 * x; }\n",
    ... }
    >>> print(link("app.js", modules.__getitem__), end="")
    "use strict";
    {
    const $sums_two = (() => {
    function twice(x) { return 2 * x; }
    return { twice };
    })();
    const $app = (() => {
    const { twice } = $sums_two;
    console.log(twice(2));
    return {  };
    })();
    }
    """
    texts: dict[str, str] = {}
    _gather(entry, read, texts, (), without)
    exports = {path: exports_of(text) for path, text in texts.items()}
    linked = [_linked(path, text, exports) for path, text in texts.items()]
    return '"use strict";\n{\n' + "".join(linked) + "}\n"


def exports_of(text: str) -> tuple[str, ...]:
    """Return the names that a module exports."""
    return tuple(match[1] or match[2] for match in _EXPORT.finditer(text))


def _gather(
    path: str,
    read: Callable[[str], str],
    texts: dict[str, str],
    importers: tuple[str, ...],
    without: Collection[str],
) -> None:
    """Add a module to `texts`, behind all that it imports."""
    if path in importers:
        raise LinkError(f"modules import each other: {', '.join((*importers, path))}")
    if path in texts or path in without:
        return
    text = read(path)
    for match in _IMPORT.finditer(_head(text)):
        _gather(_resolved(path, match[2]), read, texts, (*importers, path), without)
    texts[path] = text


def _linked(path: str, text: str, exports: Mapping[str, tuple[str, ...]]) -> str:
    """Return a module as a function that runs at once and returns what it exports."""
    head = _head(text)
    taken = _IMPORT.sub(lambda match: _import_line(path, match, exports), head)
    body = _LEFT_OUT.sub("", taken + _EXPORT.sub("", text[len(head) :]))
    refused = _REFUSED.search(body)
    if refused:
        raise LinkError(f"{path}: cannot be linked: {refused[0]}")
    names = ", ".join(exports[path])
    return f"const {_variable(path)} = (() => {{\n{body}return {{ {names} }};\n}})();\n"


def _import_line(path: str, match: re.Match[str], exports: Mapping[str, tuple[str, ...]]) -> str:
    """Return the line that takes what a module imports from one that has run."""
    source = _resolved(path, match[2])
    if source not in exports:
        return f"const {match[1]} = {{}};\n"
    for name in match[1].strip("{} ").split(", "):
        if name not in exports[source]:
            raise LinkError(f"{path}: {source} exports no `{name}`")
    return f"const {match[1]} = {_variable(source)};\n"


def _head(text: str) -> str:
    found = _HEAD.match(text)
    return found[0] if found else ""


def _resolved(path: str, written: str) -> str:
    return normpath(join(dirname(path), written))


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
