"""What a check takes of a text that was checked before: `python benchmarks rereading`.

A declaration is added, once at the end of the text and once with a mistake near its start. The text
is read anew, and with what was kept of the one before, in turns.
"""

from __future__ import annotations

import gc
from time import process_time

from qps.compiler.diagnostics.source import Source
from qps.compiler.examination import examine
from qps.compiler.syntax.importer import read_spec
from qps.compiler.syntax.parse_cache import ParseCache
from timings import ROOT, TimingTable

_SPECS = ("audioconference", "flying", "sfu")
_TURNS = 5


def rereading() -> TimingTable:
    """Return the processor time of checks of a text that changed, the least of some."""
    threshold = gc.get_threshold()
    gc.set_threshold(100_000, 20, 10)  # as the command line and the language server have it
    try:
        rows = [_row(name) for name in _SPECS]
    finally:
        gc.set_threshold(*threshold)
    return TimingTable(
        "Checks of a text that changed",
        "Processor time in ms, the least of some, of all diagnostics: of a text that is read anew, "
        "and with the declarations kept that did not change; behind them of a text with a mistake.",
        ("spec", "lines", "anew", "kept", "mistake, anew", "mistake, kept"),
        tuple(rows),
    )


def _row(name: str) -> tuple[str, ...]:
    source = read_spec(ROOT / "specs" / f"{name}.qps").value
    assert source is not None
    kept = ParseCache()
    examine(source, cache=kept)
    times = [
        [_time(source, turn, with_kept, is_wrong=is_wrong) for turn in range(_TURNS)]
        for is_wrong in (False, True)
        for with_kept in (None, kept)
    ]
    return (name, str(source.text.count("\n")), *(f"{min(one):.0f}" for one in times))


def _time(source: Source, turn: int, kept: ParseCache | None, *, is_wrong: bool) -> float:
    text = f"{source.text}let changed_{turn} = {turn}\n"
    if is_wrong:
        lines = text.splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if line.startswith("param "))
        text = "".join([*lines[:first], f"let changed_{turn} = = {turn}\n", *lines[first:]])
    changed = Source(source.label, text, source.folder)
    start = process_time()
    examine(changed, cache=kept)
    return (process_time() - start) * 1000
