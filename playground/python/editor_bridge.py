"""What the playground calls, as JSON: mistakes, the answer, the page, its editor.

The text is an open document as in the language server: so it offers here what it offers there.
"""

import gc
import json
import os
from collections.abc import Callable
from importlib.resources import files
from time import monotonic
from typing import TypeVar

from lsprotocol import types

from qps.commands.lsp import page_of
from qps.commands.report import CONFIDENCE_STEP
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.fixits import Fix
from qps.compiler.diagnostics.render import full
from qps.compiler.pipeline import Spec
from qps.editing.answer_summary import nominal_answer_line
from qps.editing.code_completion import completion
from qps.editing.hover import hover
from qps.editing.layout_edits import layout_edits
from qps.editing.messages import OpenText
from qps.editing.open_documents import CheckedText, OpenDocuments
from qps.reports.text.words.quantities import first_words

os.environ["QPS_CACHE"] = "off"
gc.set_threshold(100_000, 20, 10)

_NAME = "site.qps"
_DOCUMENT = types.TextDocumentIdentifier(_NAME)
_ELSEWHERE = "For everything, install QPS and run qps report."
_NO_NUMPY = "numpy, which the playground does not include"
_NO_ANSWER = f"The spec is valid. Solving it requires {_NO_NUMPY}. {_ELSEWHERE}"
_WITHOUT_NUMPY = f"Not shown because it requires {_NO_NUMPY}"
_TOO_LATE = "Not shown because it takes too long"
_NAMED = 4
_LONGEST = 5.0
"""Seconds for claims and figures: whoever writes waits for the page."""
_documents = OpenDocuments()


def rehearse() -> None:
    """Answer once, so that all that this imports and makes is there; raises where it does not."""
    start = files("qps.stdlib").joinpath("_start.qps.txt").read_text(encoding="utf-8")
    requests = (
        (examined, start.replace("{", "", 1), "diagnostics"),
        (examined, start, "answer"),
        (page, start, "page"),
        (hovered, start, "hover"),
        (completed, start, "completion"),
        (laid_out, start, "layout"),
    )
    for function, text, kind in requests:
        if (answer := json.loads(function(text, 0, 0)))["kind"] != kind:
            raise ValueError(answer)
    _documents.take(_NAME)
    gc.collect()
    gc.freeze()


def examined(text: str, *_: int) -> str:
    """Return the mistakes of a text, or the answer of what has none."""
    reading = _read(text)
    found = reading.examined.diagnostics
    if reading.spec is None:
        return _diagnostics(found)
    return _answer_json(lambda: _answer() | {"kind": "answer", "found": _places(found)})


def page(text: str, *_: int) -> str:
    """Return the live page of a text that has no mistakes, and what it lacks."""
    spec = _read(text).spec
    assert spec is not None
    return _answer_json(lambda: {"kind": "page"} | _page(spec))


def _page(spec: Spec) -> dict[str, object]:
    """Return the page, what it lacks, and whether it states the uncertainty of the answer."""
    parts = _Parts()
    html = page_of(spec, parts.tried)
    draws = CONFIDENCE_STEP not in parts.lacking and bool(uncertain_in(spec.configuration()))
    return {"html": html, "draws": draws, "lacks": parts.missing_parts()}


T = TypeVar("T")


class _Parts:
    """Which parts of a page are not in it: what takes numpy, and what would be late."""

    def __init__(self) -> None:
        self.lacking: dict[str, None] = {}
        self._late: dict[str, None] = {}
        self._start = monotonic()

    def tried(self, name: str, make: Callable[[], T]) -> T | None:
        """Return a part, or take down its name."""
        if name != CONFIDENCE_STEP and monotonic() - self._start > _LONGEST:
            self._late[name] = None
            return None
        try:
            return make()
        except ModuleNotFoundError as missing:
            _check(missing)
            self.lacking[name] = None
            return None

    def missing_parts(self) -> str:
        """Return what the page lacks in words; nothing where it lacks nothing."""
        sentences = [
            f"{words}: {first_words(list(names), _NAMED)}."
            for names, words in ((self.lacking, _WITHOUT_NUMPY), (self._late, _TOO_LATE))
            if names
        ]
        return " ".join([*sentences, _ELSEWHERE] if sentences else [])


def hovered(text: str, line: int, character: int) -> str:
    """Return what is known of the name at a place, as Markdown; none where there is none."""
    _read(text)
    found = hover(_documents, types.HoverParams(_DOCUMENT, types.Position(line, character)))
    if found is None or found.range is None:
        return json.dumps({"kind": "hover"})
    assert isinstance(found.contents, types.MarkupContent)
    return json.dumps({"kind": "hover", "text": found.contents.value, "at": _between(found.range)})


def completed(text: str, line: int, character: int) -> str:
    """Return what can stand at a place, what is likely first."""
    _read(text)
    place = types.Position(line, character)
    items = completion(_documents, types.CompletionParams(_DOCUMENT, place)).items
    shown = [
        {
            "label": one.label,
            "detail": one.detail,
            "kind": None if one.kind is None else one.kind.name.lower(),
        }
        for one in items
    ]
    edits = [one.text_edit for one in items if isinstance(one.text_edit, types.TextEdit)]
    start = edits[0].range if edits else types.Range(place, place)
    return json.dumps({"kind": "completion", "items": shown, "at": _between(start)})


def laid_out(text: str, *_: int) -> str:
    """Return the edits that lay a text out as `qps fmt` does."""
    _read(text)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = layout_edits(_documents, types.DocumentFormattingParams(_DOCUMENT, options))
    changes = [_between(one.range) | {"insert": one.new_text} for one in edits]
    return json.dumps({"kind": "layout", "edits": changes})


def _read(text: str) -> CheckedText:
    """Return what a text says, which is an open document from now on."""
    held = _documents.texts.get(_NAME)
    if held is None or held.text != text:
        _documents.put(OpenText(_NAME, 1 if held is None else held.version + 1, text))
    return _documents.reading(_NAME)


def _answer_json(answer: Callable[[], dict[str, object]]) -> str:
    """Return an answer, or why there is none."""
    try:
        return json.dumps(answer())
    except QpsError as error:
        return _diagnostics(error.diagnostics)
    except ModuleNotFoundError as missing:
        _check(missing)
        return json.dumps({"kind": "diagnostics", "found": [], "text": _NO_ANSWER})


def _answer() -> dict[str, object]:
    """Return the answer in a line, and the loads of places, each at the end of a line."""
    answer = nominal_answer_line(_documents, _NAME)
    if answer is None:
        return {"text": "This is a module: other specs can use its declarations.", "loads": []}
    _documents.answers[_NAME] = answer
    loads = [
        {"from": _offset(one.at), "label": one.label, "tooltip": one.tooltip}
        for one in answer.loads
    ]
    return {"text": answer.title, "loads": loads, "isNominal": answer.is_nominal}


def _check(missing: ModuleNotFoundError) -> None:
    """Raise it again where it is none of what a browser does not have."""
    if missing.name not in ("numpy", "pyarrow", "sympy", "scipy", "simpy"):
        raise missing


def _diagnostics(found: tuple[Diagnostic, ...]) -> str:
    message = {"kind": "diagnostics", "found": _places(found), "text": full(found)}
    return json.dumps(message)


def _places(found: tuple[Diagnostic, ...]) -> list[dict[str, object]]:
    """Return where diagnostics of the text stand, with what would fix them."""
    return [
        {
            "from": _utf16(one.primary.span.source.text[: one.primary.span.start]),
            "to": _utf16(one.primary.span.source.text[: one.primary.span.end]),
            "severity": "error" if one.is_error else "warning",
            "message": "\n".join([f"{one.code.id}: {one.message}", *map(str, one.hints)]),
            "fixes": [_fix_json(fix) for fix in one.fixes if _is_own(fix)],
        }
        for one in found
        if one.primary is not None and one.primary.span.source.label == _NAME
    ]


def _is_own(fix: Fix) -> bool:
    return all(edit.span.source.label == _NAME for edit in fix.edits)


def _fix_json(fix: Fix) -> dict[str, object]:
    edits = [
        {
            "from": _utf16(edit.span.source.text[: edit.span.start]),
            "to": _utf16(edit.span.source.text[: edit.span.end]),
            "insert": edit.text,
        }
        for edit in fix.edits
    ]
    return {"title": fix.title, "edits": edits}


def _between(places: types.Range) -> dict[str, object]:
    return {"from": _offset(places.start), "to": _offset(places.end)}


def _offset(position: types.Position) -> int:
    """Return a place as CodeMirror counts: in UTF-16, from the beginning of the text."""
    source = _read(_documents.texts[_NAME].text).source
    return _utf16(source.text[: _documents.positions(source).offset(position)])


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
