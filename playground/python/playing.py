"""What the playground asks of QPS, as JSON: mistakes, the answer, the live page."""

import gc
import json
import os
from collections.abc import Callable
from importlib.resources import files

from qps.commands.lsp import page_of
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.render import full
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.reports.text.first_screen import headline
from qps.reports.text.view import solve_view
from qps.solver.answers.worst_mode import solve_model
from qps.solver.odds.promising import promising

os.environ["QPS_CACHE"] = "off"
gc.set_threshold(100_000, 20, 10)

_WITHOUT_NUMPY = (
    "This spec is right. To answer it takes more than a browser has here (uncertain numbers, "
    "figures and large networks of users who wait are worked out with numpy): pip install qps, "
    "then qps report."
)
_held: dict[str, Spec] = {}


def rehearse() -> None:
    """Answer once, so that all that this imports and makes is there; raises where it does not."""
    start = files("qps.stdlib").joinpath("_start.qps.txt").read_text(encoding="utf-8")
    for text, kind in ((start.replace("{", "", 1), "diagnostics"), (start, "answer")):
        if (answer := json.loads(told(text)))["kind"] != kind:
            raise ValueError(answer)
    if json.loads(page(start))["kind"] != "page":
        raise ValueError(start)
    _held.clear()
    gc.collect()
    gc.freeze()


def told(text: str) -> str:
    """Return the mistakes of a text, or the answer of what has none."""
    _held.clear()
    outcome = check_source(Source("site.qps", text))
    if outcome.value is None:
        return _diagnostics(outcome.diagnostics)
    spec = _held[text] = outcome.value
    found = _places(spec.warnings)
    return _asked(lambda: {"kind": "answer", "text": _answer(spec), "found": found})


def page(text: str) -> str:
    """Return the live page of the text that was told of last."""
    return _asked(lambda: {"kind": "page", "html": page_of(_held[text])})


def _asked(answer: Callable[[], dict[str, object]]) -> str:
    """Return an answer, or why there is none."""
    try:
        return json.dumps(answer())
    except QpsError as error:
        return _diagnostics(error.diagnostics)
    except ModuleNotFoundError as missing:
        return json.dumps({"kind": "diagnostics", "found": [], "text": _missing(missing)})


def _answer(spec: Spec) -> str:
    configuration = spec.configuration()
    model = promising(spec.model, configuration)
    solution = solve_model(model, configuration)
    view = solve_view(model, configuration, solution, (), (), spec.warnings)
    return headline(view, solution)


def _missing(missing: ModuleNotFoundError) -> str:
    if missing.name not in ("numpy", "pyarrow", "sympy", "scipy", "simpy"):
        raise missing
    return _WITHOUT_NUMPY


def _diagnostics(found: tuple[Diagnostic, ...]) -> str:
    told = {"kind": "diagnostics", "found": _places(found), "text": full(found)}
    return json.dumps(told)


def _places(found: tuple[Diagnostic, ...]) -> list[dict[str, object]]:
    """Return where diagnostics of the text stand, as CodeMirror counts: in UTF-16."""
    return [
        {
            "from": _utf16(one.primary.span.source.text[: one.primary.span.start]),
            "to": _utf16(one.primary.span.source.text[: one.primary.span.end]),
            "severity": "error" if one.is_error else "warning",
            "message": "\n".join([f"{one.code.id}: {one.message}", *map(str, one.hints)]),
        }
        for one in found
        if one.primary is not None and one.primary.span.source.label == "site.qps"
    ]


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
