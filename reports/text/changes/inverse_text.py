"""Values of a number that support a population, as text and as plain values."""

from __future__ import annotations

from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics.former_names import former
from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.solutions.uncertainty_text import typical_lines
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.mode_words import in_mode
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    first_words,
    joined_words,
    quantity,
    rounded_in,
    scale_of,
    with_unit,
)
from qps.reports.text.words.reliability import EXACT_HERE, because_first
from qps.solver.what_if.acceptable_values import AcceptableInterval
from qps.solver.what_if.boundaries import Failure, FailureAt
from qps.solver.what_if.inverse import InverseSolution

_DIGITS = 6
_MOST_REASONS = 4


class IntervalView(Struct, frozen=True, kw_only=True):
    """Values that support the population, and what fails beyond (null at an end of the range).

    An open end is excluded. For counts, `unrounded` contains the ends before rounding to whole
    numbers, or null if they were whole numbers.
    """

    from_: float
    to: float
    fails_below: str | None
    fails_above: str | None
    mode_below: str | None
    mode_above: str | None
    from_is_open: bool
    to_is_open: bool
    unrounded: tuple[float, float] | None
    from_known: Certainty
    to_known: Certainty


class InverseView(Struct, frozen=True, kw_only=True):
    """The values of a number that support a population, in base units of `unit`.

    `current` is null if it differs between modes (see `current_by_mode`). `known` is a lower bound
    if more values may be sufficient, and an upper bound if fewer may be.
    """

    schema: str
    file: str
    parameter: str
    population: dict[str, int]
    unit: str
    current: float | None
    current_by_mode: dict[str, float]
    elastic: bool
    whole_numbers: bool
    range_: tuple[float, float]
    answer: str
    intervals: tuple[IntervalView, ...]
    fails: tuple[Failure, ...]
    fails_throughout: bool
    known: Certainty
    nominal_inputs: tuple[str, ...]

    given = former("given", "population")


def inverse_view(solution: InverseSolution, file: str) -> InverseView:
    """Return the answer as plain values."""
    number = solution.number
    values = set(number.current.values())
    return InverseView(
        schema="qps/inverse/3",
        file=file,
        parameter=number.name,
        population={solution.population: solution.at},
        unit=str(number.dimension),
        current=values.pop() if len(values) == 1 else None,
        current_by_mode={mode: value for mode, value in number.current.items() if mode is not None},
        elastic=number.is_elastic,
        whole_numbers=number.is_count,
        range_=(float(number.low), float(number.high)),
        answer=inverse_answer(solution),
        intervals=tuple(_interval_view(interval) for interval in solution.intervals),
        fails=tuple(Failure(one.requirement, one.mode, one.refused) for one in solution.fails),
        fails_throughout=solution.fails_throughout,
        known=solution.known,
        nominal_inputs=solution.nominal_inputs,
    )


def _interval_view(interval: AcceptableInterval) -> IntervalView:
    below, above = interval.fails_below, interval.fails_above
    return IntervalView(
        from_=interval.low,
        to=interval.high,
        fails_below=None if below is None else below.requirement,
        fails_above=None if above is None else above.requirement,
        mode_below=None if below is None else below.mode,
        mode_above=None if above is None else above.mode,
        from_is_open=interval.low_is_open,
        to_is_open=interval.high_is_open,
        unrounded=interval.unrounded,
        from_known=interval.low_known,
        to_known=interval.high_known,
    )


def inverse_text(
    solution: InverseSolution,
    place: str = "",
    *,
    labels: Labels = PLAIN,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return the answer, the value of today, and how the values are known."""
    layout = TextLayout(
        title=f"{solution.number.name} for {counted(solution.at, solution.population)}",
        place=place,
        facts=(
            ("Required", labels.sentence(required_values(solution)).removesuffix(".")),
            ("Current", _current(solution)),
            (phrase("accuracy"), _reliability(solution, labels)),
        ),
        notes=tuple(map(labels.sentence, typical_lines(solution.nominal_inputs))),
    )
    return layout.printed(markdown=markdown, width=width)


def _reliability(solution: InverseSolution, labels: Labels) -> str:
    """Return how the values are known, with the first reasons."""
    if solution.known.is_exact:
        return EXACT_HERE
    what = _what(solution)
    reasons = solution.known.reasons
    return because_first(f"{what[0].lower()}{what[1:]}", reasons, labels, solution.ports)


_RELIABILITY = {
    CertaintyKind.UPPER_BOUND: phrase("inverse.optimistic"),
    CertaintyKind.LOWER_BOUND: phrase("inverse.conservative_values"),
    CertaintyKind.APPROXIMATION: phrase("inverse.approximate"),
}


def _what(solution: InverseSolution) -> str:
    """Return what values that are not exact are."""
    if not solution.intervals:
        return phrase("inverse.conservative")
    return _RELIABILITY[solution.known.kind]


def inverse_answer(solution: InverseSolution) -> str:
    """Return the answer in words: how large the number must be, and what fails otherwise."""
    values = required_values(solution)
    if not solution.intervals or _is_every_value(solution):
        return f"{values[0].upper()}{values[1:]} {_now(solution)}"
    return f"{counted(solution.at, solution.population)}: {values} {_now(solution)}"


def _is_every_value(solution: InverseSolution) -> bool:
    return [_interval(solution, interval) for interval in solution.intervals] == [None]


def required_values(solution: InverseSolution) -> str:
    """Return in words which values support the population, and what fails with others."""
    number = solution.number
    name = printable(number.name)
    users = counted(solution.at, solution.population)
    kind = phrase("inverse.full_range") if number.is_declared else phrase("inverse.searched_range")
    low, high = (_describe(solution, float(end)) for end in (number.low, number.high))
    whole = f"{low} to {high}, {kind}"
    everywhere = phrase("inverse.every_mode") if number.is_changed_by_modes else ""
    if not solution.intervals:
        because = _because(solution)
        none = phrase("inverse.none", name=name, users=users)
        if any(failure.is_undecided for failure in solution.fails):
            none = phrase("inverse.unknown", name=name, users=users)
        return f"{none} (searched {whole}){because}."
    parts = [_interval(solution, interval) for interval in solution.intervals]
    if parts == [None]:
        return phrase("inverse.all", name=name, users=users, whole=whole)
    said = ", or ".join(part for part in parts if part is not None)
    ends = (end for i in solution.intervals for end in (i.fails_below, i.fails_above))
    be = (
        phrase("inverse.may_be")
        if any(end is not None and end.is_undecided for end in ends)
        else phrase("inverse.must_be")
    )
    return f"{everywhere}{name} {be} {said}."


def _now(solution: InverseSolution) -> str:
    """Return in a sentence what the number is now."""
    if not solution.number.current:
        return phrase("inverse.unused", value=printable(solution.number.name))
    return f"Currently {_current(solution)}."


def _current(solution: InverseSolution) -> str:
    """Return what the number is now: by mode where they differ, at this population if elastic."""
    number = solution.number
    if not number.current:
        return phrase("term.not_used")
    values = {mode: _describe(solution, value) for mode, value in number.current.items()}
    text = next(iter(values.values()))
    if len(set(values.values())) > 1:
        text = joined_words(
            [
                phrase("inverse.value_in_mode", value=value, mode=mode)
                for mode, value in values.items()
            ]
        )
    if number.is_elastic:
        return phrase(
            "inverse.elastic_value", text=text, population=solution.population, at=solution.at
        )
    return text


def _interval(solution: InverseSolution, interval: AcceptableInterval) -> str | None:
    """Return the acceptable values in words, None where they are the whole range."""
    below, above = interval.fails_below, interval.fails_above
    low, high = _end(solution, interval, is_low=True), _end(solution, interval, is_low=False)
    low_known, high_known = _known(interval.low_known), _known(interval.high_known)
    under_it = below and _fails(below, at_end=interval.low_is_open)
    over_it = above and _fails(above, at_end=interval.high_is_open)
    low_known = _unrounded(solution, interval, is_low=True) + low_known
    high_known = _unrounded(solution, interval, is_low=False) + high_known
    under = below and f"({low_known}{_beyond(solution, interval, is_low=True)}, {under_it})"
    over = above and f"({high_known}{_beyond(solution, interval, is_low=False)}, {over_it})"
    least = "above" if interval.low_is_open else phrase("inverse.at_least")
    most = "below" if interval.high_is_open else phrase("inverse.at_most")
    if under and over:
        if interval.low == interval.high:
            return f"{low} ({under[1:-1]}; {over[1:-1]})"
        if interval.low_is_open or interval.high_is_open:
            return f"{least} {low} {under} and {most} {high} {over}"
        return phrase("inverse.between", low=low, under=under, high=high, over=over)
    if under:
        return f"{least} {low} {under}"
    return f"{most} {high} {over}" if over else None


def _beyond(solution: InverseSolution, interval: AcceptableInterval, *, is_low: bool) -> str:
    """Return where it fails: beyond an end, at an open one; nothing lies beyond the range."""
    number = solution.number
    end, last, side = (
        (interval.low, number.low, "below") if is_low else (interval.high, number.high, "above")
    )
    if not (interval.low_is_open if is_low else interval.high_is_open):
        return f"{side} that"
    return (
        phrase("inverse.at_value")
        if number.is_declared and end == float(last)
        else phrase("inverse.at_or_beyond", side=side)
    )


def _known(known: Certainty) -> str:
    return "" if known.is_exact else f"{known.kind.value}; "


def _fails(failure: FailureAt, *, at_end: bool = False) -> str:
    """Return what fails and how; `at_end` if it also fails at the open end of an interval."""
    if failure.refused:
        return printable(failure.requirement)
    mode = in_mode(failure.mode)
    how = _OFF_LIMIT[failure.at_most, failure.is_on_limit or (at_end and failure.strict)]
    if not (failure.at_most or failure.is_finite):
        how = phrase("inverse.not_finite")
    return f"{printable(failure.requirement)} {how}{mode}"


_OFF_LIMIT = {
    (True, False): phrase("inverse.exceeds_limit"),
    (True, True): phrase("inverse.not_below_limit"),
    (False, False): phrase("inverse.below_minimum"),
    (False, True): phrase("inverse.not_above_minimum"),
}
"""How a measure fails, by whether its limit is a largest value, and whether it is on the limit."""


def _because(solution: InverseSolution) -> str:
    """Return what fails where no value will do: throughout, or from the least value on."""
    failures = [_fails(failure) for failure in solution.fails]
    reasons = first_words(failures, _MOST_REASONS)
    if solution.fails_throughout:
        return phrase("inverse.throughout", reasons=reasons)
    return phrase("inverse.smallest_fails", reasons=reasons) if failures else ""


def _end(solution: InverseSolution, interval: AcceptableInterval, *, is_low: bool) -> str:
    """Return an end of an interval, as many digits as are shown rounded into it."""
    end = interval.low if is_low else interval.high
    if solution.number.is_count:
        return with_unit(f"{end:,.0f}", str(solution.number.dimension))
    return _describe(solution, _inward(end, solution, is_low=is_low), _DIGITS)


def _unrounded(solution: InverseSolution, interval: AcceptableInterval, *, is_low: bool) -> str:
    """Return an end before it was rounded to a whole number; empty where it was not."""
    end = interval.low if is_low else interval.high
    if not solution.number.is_count or interval.unrounded is None:
        return ""
    exact = interval.unrounded[0 if is_low else 1]
    if exact is None or exact == end:
        return ""
    value = _describe(solution, _inward(exact, solution, is_low=is_low), _DIGITS)
    return phrase("inverse.unrounded", value=value)


def _inward(end: float, solution: InverseSolution, *, is_low: bool) -> float:
    """Return an end with the digits that are shown: of what is acceptable, never beyond it."""
    number = solution.number
    if end == 0 or not isfinite(end):
        return end
    factor = 0.01 if number.is_share else scale_of(end, number.dimension)[0]
    return rounded_in(end, factor, _DIGITS, is_up=is_low)


def _describe(solution: InverseSolution, value: float, digits: int = 4) -> str:
    number = solution.number
    return quantity(value, number.dimension, digits, share=number.is_share)
