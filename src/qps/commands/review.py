"""`qps review`: what a change does, as one comment on a pull request."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from qps.commands.cache.spec_cache import load
from qps.commands.file_dependents import files_of
from qps.commands.revisions.revision import spec_at
from qps.commands.terminal.console import Exit, complain, show, specs_under
from qps.commands.terminal.progress import Progress
from qps.commands.test import status_of, tested_specs
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.changes.difference_text import (
    DifferenceView,
    difference_text,
    spec_difference_view,
)
from qps.reports.text.claims.claim_formats import MOST_CHARACTERS, claims_markdown
from qps.reports.text.layout.table import escaped
from qps.reports.text.words.phrases import phrase
from qps.reviewing.changed_files import ChangesSince
from qps.reviewing.comparison_base import base_of
from qps.simulation.claim_simulator import claim_simulator
from qps.solver.answers.solution import SolverFault
from qps.solver.spec_difference import spec_difference
from qps.solver.uncertainty.interval_result import PROBABILITY

_SHORT = 10
"""Digits of a commit that are reported."""


def run(arguments: Namespace) -> Exit:
    """Test the specs, compare those that were moved since a revision, and print one comment."""
    base = base_of(Path(), arguments.revision)
    if base.commit is None:
        raise complain(base.why, base.fix)
    since = ChangesSince.of(base.top, base.commit)
    paths = specs_under(arguments.paths)
    with Progress(total=2 * len(paths), quiet=arguments.quiet, unit=None) as progress:
        tested = tested_specs(paths, progress, claim_simulator(), PROBABILITY)
        progress.advance(0, phrase("term.changed_files"))
        moved = [_Moved.of(spec, before, since) for spec, before in _moved(paths, since)]
    show(tested.diagnostics, arguments)
    left = MOST_CHARACTERS - len(_differences(moved, MOST_CHARACTERS))
    claims = claims_markdown(tested, max(MOST_CHARACTERS // 2, left))
    sys.stdout.write(claims + _differences(moved, MOST_CHARACTERS - len(claims)))
    return Exit.FAULT if any(one.is_fault for one in moved) else status_of(tested)


def _moved(paths: Sequence[Path], since: ChangesSince) -> Iterator[tuple[Path, Path | None]]:
    """Yield the specs that read what was changed, each with the name that it had before."""
    for path in paths:
        if any(since.touches(file) for file in files_of(path)):
            yield path, since.name_before(path)


class _Moved(Struct, frozen=True, kw_only=True):
    """A spec that reads what was changed: how its answer moves, or why that is not known.

    Of a module there is neither: it answers nothing itself.
    """

    path: Path
    view: DifferenceView | None = None
    reason: str = ""
    is_moved: bool = True
    is_fault: bool = False

    @staticmethod
    def of(path: Path, before: Path | None, since: ChangesSince) -> _Moved:
        """Compare a spec with what it was."""
        earlier = "" if before is None else f"{since.commit[:_SHORT]}:{os.path.relpath(before)}"
        try:
            new = load(path)
            if new.program.is_module:
                return _Moved(path=path)
            if not earlier:
                return _Moved(path=path, reason=phrase("term.is_new"))
            with spec_at(earlier) as old:
                found = spec_difference(old, new)
                view = spec_difference_view(found)
        except QpsError as error:
            return _Moved(
                path=path,
                reason=phrase("review.cannot_be_compared", message=error.diagnostics[0].message),
            )
        except (SolverFault, ArithmeticError, LookupError, TypeError, ValueError) as error:
            message = phrase("review.not_compared_internal", name=type(error).__name__, error=error)
            return _Moved(path=path, reason=message, is_fault=True)
        is_moved = found.difference.is_moved
        return _Moved(path=path, view=view, is_moved=is_moved)

    @property
    def text(self) -> str:
        """The difference in Markdown."""
        assert self.view is not None
        return "\n" + difference_text(self.view, markdown=True)


def _differences(moved: Sequence[_Moved], most: int) -> str:
    """Return how answers move, in so many characters at most: what does not fit is named."""
    lines = [f"\n`{escaped(str(m.path))}` {escaped(m.reason)}.\n" for m in moved if m.reason]
    still = [m for m in moved if m.view is not None and not m.is_moved]
    if still:
        lines.append(phrase("review.same_result", names=_names(still)))
    text, left = "", list[_Moved]()
    for one in [m for m in moved if m.view is not None and m.is_moved]:
        if len(text) + len(one.text) + _ROOM <= most:
            text += one.text
        else:
            left.append(one)
    if left:
        lines.append(phrase("review.omitted", names=_names(left)))
    for line in lines:
        text += line if len(text) + len(line) <= most else ""
    return text


_ROOM = 2_000
"""Characters reserved for the note on what is left out."""
_MOST_NAMED = 20


def _names(moved: Sequence[_Moved]) -> str:
    names = [f"`{escaped(str(one.path))}`" for one in moved[:_MOST_NAMED]]
    more = len(moved) - len(names)
    return ", ".join(names) + (phrase("term.and_more", count=more) if more else "")
