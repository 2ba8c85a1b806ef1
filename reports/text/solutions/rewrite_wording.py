"""Changes of the text of a spec in words, and the lines to write."""

from __future__ import annotations

from collections.abc import Iterator

from qps.reports.text.words.labels import Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words
from qps.solver.answers.answer_parts import LineChange, RewriteMethod, SpecRewrite


def rewrite_words(rewrite: SpecRewrite, labels: Labels) -> str:
    """Return what a change of the text does: `shrink of page: web -> media`."""
    parts = rewrite.parts
    match rewrite.method:
        case RewriteMethod.MOVED_STEP:
            return phrase("choice.moved_step", **_move(parts))
        case RewriteMethod.CALLED_STEP:
            return phrase("choice.called_step", **_move(parts))
        case RewriteMethod.MOVED_CALL:
            return phrase("choice.moved_call", **_move(parts))
        case RewriteMethod.MOVED_TOGETHER:
            return joined_words([_one_of_several(each) for each in _each_move(parts)])
        case RewriteMethod.PRIORITY:
            return phrase("choice.priority", **_first(parts, labels))
        case RewriteMethod.PREEMPTION:
            return phrase("choice.preemption", **_first(parts, labels))
        case RewriteMethod.SHARING:
            return phrase("choice.sharing", resource=labels.of(parts[0]))
        case RewriteMethod.PACING:
            return phrase("choice.pacing", stream=parts[0])
        case RewriteMethod.OTHER_HOURS:
            stream, start, end = parts
            return phrase("choice.other_hours", stream=stream, start=start, end=end)
        case RewriteMethod.OWN_UNITS:
            stream, some, many, pool = parts
            return phrase(
                "choice.own_units", stream=stream, some=some, many=many, pool=labels.of(pool)
            )
        case RewriteMethod.LIMITED_WORK:
            stream, most, many, resource, other = parts
            return phrase(
                "choice.limited_work",
                stream=stream,
                most=most,
                many=many,
                resource=labels.of(resource),
                other=other,
            )


def _each_move(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the method of each move with its parts."""
    return (parts[at : at + 5] for at in range(0, len(parts), 5))


def _one_of_several(parts: tuple[str, ...]) -> str:
    method, *own = parts
    keys = {
        RewriteMethod.MOVED_STEP: "choice.moved_step",
        RewriteMethod.CALLED_STEP: "choice.called_step",
        RewriteMethod.MOVED_CALL: "choice.moved_call",
    }
    return phrase(keys[RewriteMethod(method)], **_move(tuple(own)))


def _move(parts: tuple[str, ...]) -> dict[str, str]:
    step, stream, before, after = parts
    return {"step": step, "stream": stream, "before": before, "after": after}


def _first(parts: tuple[str, ...], labels: Labels) -> dict[str, str]:
    resource, *streams = parts
    return {"resource": labels.of(resource), "streams": joined_words(streams)}


def lines_to_write(lines: tuple[LineChange, ...]) -> Iterator[str]:
    """Yield each line that is changed, with its number: `line 12: at web { render }`."""
    for one in lines:
        if not one.after:
            yield phrase("choice.removed_line", number=one.line)
        for number, text in enumerate(one.after.splitlines()):
            key = "choice.line" if one.before else "choice.new_line"
            line = one.line + number if one.before else one.line
            yield phrase(key, number=line, text=text.strip())
