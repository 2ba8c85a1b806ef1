"""What a keystroke costs: from the change of a text to all that an editor asks of it then.

In one process, as the one that looks at texts does it: `python benchmarks keystrokes`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from time import process_time

from lsprotocol import types

from qps.editing.code_completion import completion
from qps.editing.hover import hover
from qps.editing.layout_edits import layout_edits
from qps.editing.messages import OpenText
from qps.editing.open_documents import OpenDocuments
from qps.editing.outline import outline
from qps.editing.published_diagnostics import text_diagnostics
from qps.editing.semantic_tokens import word_colors
from qps.editing.value_hints import value_hints
from timings import ROOT, TimingTable

_TURNS = 5
_SPECS = (
    "audioconference", "atm_video", "sfu", "iri", "applications/shop",
    "applications/thirteen_services",
)  # fmt: skip
"""The longest to check first, which are those that one notices."""
_ASKED = ("mistakes", "colors", "outline", "values", "hover", "completion", "layout")


def keystrokes() -> TimingTable:
    """Return the processor time of what follows a keystroke, the least of some."""
    rows = [_row(name) for name in _SPECS]
    return TimingTable(
        "Keystrokes",
        "Processor time in ms, the least of some, of what an editor asks once a text has changed "
        "by a letter; mistakes are asked first, the others of the same text. An answer is computed "
        "beside it, in a process of its own, and delays none of this.",
        ("spec", "lines", *_ASKED),
        tuple(rows),
    )


def _row(name: str) -> tuple[str, ...]:
    path = ROOT / "specs" / f"{name}.qps"
    text = path.read_text(encoding="utf-8")
    threshold = gc.get_threshold()
    gc.set_threshold(500_000, 20, 10)  # as the process has it
    try:
        found = [_turn(path, text, turn) for turn in range(_TURNS + 1)][1:]
    finally:
        gc.set_threshold(*threshold)
    least = (min(times) for times in zip(*found, strict=True))
    return (name, str(text.count("\n")), *(f"{one:.0f}" for one in least))


_DOCUMENTS = OpenDocuments()


def _turn(path: Path, text: str, turn: int) -> list[float]:
    """Return the times of one keystroke: a digit more in the last number of the text."""
    uri = path.as_uri()
    at = max(index for index, letter in enumerate(text) if letter.isdigit()) + 1
    changed = text[:at] + str(turn % 10) + text[at:]
    _DOCUMENTS.put(OpenText(uri, turn, changed))
    of = types.TextDocumentIdentifier(uri)
    lines = changed.count("\n")
    place = types.Position(lines // 2, 8)
    whole = types.Range(types.Position(0, 0), types.Position(lines, 0))
    options = types.FormattingOptions(2, insert_spaces=True)
    works: dict[str, Callable[[], object]] = {
        "mistakes": lambda: text_diagnostics(_DOCUMENTS, uri),
        "colors": lambda: word_colors(_DOCUMENTS, types.SemanticTokensParams(of)),
        "outline": lambda: outline(_DOCUMENTS, types.DocumentSymbolParams(of)),
        "values": lambda: value_hints(_DOCUMENTS, types.InlayHintParams(of, whole)),
        "hover": lambda: hover(_DOCUMENTS, types.HoverParams(of, place)),
        "completion": lambda: completion(_DOCUMENTS, types.CompletionParams(of, place)),
        "layout": lambda: layout_edits(_DOCUMENTS, types.DocumentFormattingParams(of, options)),
    }
    times = []
    for name in _ASKED:
        start = process_time()
        works[name]()
        times.append((process_time() - start) * 1000)
    return times
