"""What the language server and the processes that work for it exchange.

Nothing of the compiler is imported here: the server itself starts without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from lsprotocol import types  # slow to import, and needed by nobody here


class OpenText(Struct, frozen=True):
    """A text as an editor holds it; each change has a version of its own."""

    uri: str
    version: int
    text: str


class Setting(Struct, frozen=True, kw_only=True):
    """How the editor counts columns, and where read-only copies of the library are to be.

    Without such a folder, modules of the standard library are documents of a scheme of their own.
    `folders` are those that are open in the editor.
    """

    encoding: str = "utf-16"
    library: str | None = None
    folders: tuple[str, ...] = ()


class TextUpdate(Struct, frozen=True):
    """A text was opened, or has changed."""

    text: OpenText


class CloseText(Struct, frozen=True):
    """A text was closed."""

    uri: str


class TextAnswer(Struct, frozen=True):
    """The answer of a text as it is, for the hints of its names."""

    uri: str
    answer: AnswerLine


class FeatureRequest(Struct, frozen=True, kw_only=True):
    """A request for a text, as it is in a version; None for one that is not open."""

    number: int
    feature: str
    uri: str
    version: int | None
    params: object


class RequestStart(Struct, frozen=True):
    """The work on a request has begun."""

    number: int


class PartialResult(Struct, frozen=True):
    """What was found so far; the answer comes behind it."""

    number: int
    result: object


class RequestResult(Struct, frozen=True, kw_only=True):
    """What was found, or why nothing was.

    `refused` says what is wrong with the request, `fault` what went wrong with us; `outdated`
    that the text is another one by now.
    """

    number: int
    result: object = None
    refused: str | None = None
    fault: str | None = None
    outdated: bool = False


# -- what was found --------------------------------------------------------------------------


class TextDiagnostics(Struct, frozen=True):
    """What is wrong, by the document in which it is; `files` are all that were read."""

    found: dict[str, list[types.Diagnostic]]
    files: list[str]


class PlaceLoad(Struct, frozen=True, kw_only=True):
    """What a node or a link is loaded with at the answer, and where that is shown."""

    at: types.Position
    label: str
    tooltip: str


class AnswerLine(Struct, frozen=True, kw_only=True):
    """The answer in a line, where the population is declared, and the loads of places.

    `values` are loads and measures by their names, as people read them, `at` that population. It
    `is_nominal` where inputs are uncertain and no samples of them were solved.
    """

    title: str
    is_nominal: bool
    range: types.Range
    loads: tuple[PlaceLoad, ...]
    at: str
    values: dict[str, str]


class PageResult(Struct, frozen=True):
    """A page, or why there is none."""

    page: str | None
    wrong: str = ""
