"""The states that failures leave, `survive any one of web, db`, as modes: `web_lost`, `db_lost`.

As in any mode, requirements must be met in each of them, and the worst one limits the capacity.
The mode without a failure is `none_lost`. Each mode of a spec has all of these states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.check.names.declarations import repeated
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

NONE_LOST = "none_lost"
"""The mode in which nothing has failed."""

_WORDS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MOST_STATES = 100


class _State(Struct, frozen=True, kw_only=True):
    """What has failed, and what is said of this state."""

    name: str
    losses: tuple[ast.FailedMachines, ...]
    declared: ast.Survive


def with_failure_states(syntax: ast.Module, sink: Sink) -> ast.Module:
    """Return a file with a mode for each state that is to be survived."""
    declared = syntax.every(ast.Survive)
    if not declared:
        return syntax
    states: dict[str, _State] = {}
    for survive in declared:
        for state in _states(survive, sink):
            if state.name in states:
                sink.report(
                    codes.DUPLICATE_NAME,
                    state.losses[0].span,
                    f"the failure `{state.name}` is listed twice",
                    hint=single_statement_hint(survive.span),
                )
            states.setdefault(state.name, state)
    modes = syntax.every(ast.Mode)
    if len(states) * max(1, len(modes)) > _MOST_STATES:
        sink.report(
            codes.OUT_OF_RANGE,
            declared[-1].span,
            f"{len(states) * max(1, len(modes))} states after failures: at most {_MOST_STATES} "
            "are supported",
            hint="list fewer nodes, fewer failures at the same time, or fewer modes",
        )
        return syntax
    others = tuple(one for one in syntax.declarations if not isinstance(one, ast.Mode))
    made = tuple(_modes(modes, list(states.values()), declared[0].span))
    return replace(syntax, declarations=(*others, *made))


def _states(survive: ast.Survive, sink: Sink) -> Iterator[_State]:
    """Yield the states that one declaration lists."""
    number = whole_number(survive.failures)
    zones = None if survive.zones is None else whole_number(survive.zones)
    if number is None or (survive.zones is not None and zones is None):
        wrong = survive.failures if number is None else survive.zones
        assert wrong is not None
        sink.report(
            codes.OUT_OF_RANGE,
            wrong.span,
            "a number of failures or zones is a whole number of at least 1",
            hint="write `survive any one of web`, or `survive any one of 3 zones with web, db`",
        )
        return
    if zones is not None and number >= zones:
        sink.report(
            codes.OUT_OF_RANGE,
            survive.span,
            f"if {number} of {zones} zones fail, none is left",
            hint=f"use more than {number} zones",
        )
        return
    if zones is not None:
        losses = [ast.FailedMachines(span=survive.span, name=one, number=number, zones=zones)
                  for one in survive.nodes]  # fmt: skip
        count = "" if number == 1 else f"{_word(number)}_"
        name = f"{count}zone{'s' if number > 1 else ''}_of_{zones}_lost"
        yield _State(name=name, losses=tuple(losses), declared=survive)
        return
    for again, earlier in repeated(survive.nodes, lambda name: name.text):
        sink.report(
            codes.DUPLICATE_NAME,
            again.span,
            f"`{again.text}` is listed twice",
            secondary=[Label(earlier.span, "first listed here")],
            hint=f"to survive two failures of one node, write `survive any two of {again.text}`",
        )
    names = {name.text: name for name in survive.nodes}
    for failed in combinations_with_replacement(names, number):
        counts = Counter(failed)
        losses = [
            ast.FailedMachines(span=names[name].span, name=names[name], number=counts[name])
            for name in counts
        ]
        name = f"{'_and_'.join(_lost(name, count) for name, count in counts.items())}_lost"
        yield _State(name=name, losses=tuple(losses), declared=survive)


def _lost(name: str, count: int) -> str:
    plain = name.replace(".", "_")
    return plain if count == 1 else f"{_word(count)}_{plain}"


def _word(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)


def whole_number(number: ast.Number | ast.Text) -> int | None:
    """Return a number that is written as a word or in digits; None if it is not a count."""
    if isinstance(number, ast.Text):
        return _WORDS.index(number.value)
    value = Fraction(number.value)
    return int(value) if value >= 1 and value.denominator == 1 else None


def _modes(modes: Sequence[ast.Mode], states: Sequence[_State], span: Span) -> Iterator[ast.Mode]:
    """Yield each mode without a failure and in each state."""
    every: Sequence[ast.Mode | None] = modes or [None]
    for mode in every:
        if mode is None:
            yield ast.Mode(span=span, name=ast.Name(span, (NONE_LOST,)))
        else:
            yield mode
        for state in states:
            own = state.declared
            name = state.name if mode is None else f"{mode.name.text}_{state.name}"
            yield ast.Mode(
                span=own.span,
                doc=own.doc,
                name=ast.Name(own.span, (name,)),
                requirements=(*(() if mode is None else mode.requirements), *own.requirements),
                changes=(*(() if mode is None else mode.changes), *own.changes),
                losses=state.losses,
            )
