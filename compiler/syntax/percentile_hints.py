"""Lists of percentiles that go wrong: `measure page.latency 95 %`, `column page.p50, page.p95`."""

from __future__ import annotations

import re

from qps.compiler.diagnostics.fixits import insertion_before_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.faults import Fault

_LEVEL = r"p\d{1,2}(?:_\d{1,6})?"
_OPENED = re.compile(r"\b(measure|column)[ \t]+([^\W\d][\w.]*)[ \t]*\Z")
_LISTED = re.compile(rf"\b(?:measure|column)[ \t]+([\w.]+)[ \t]+(?:{_LEVEL}\s*,\s*)*({_LEVEL})\Z")
_NAMED = re.compile(r"\b(measure|column)[ \t]+(\w+[ \t]*=[ \t]*)([\w.]+)\Z")
_TIMED = re.compile(r"\b([^\W\d][\w.]*)\.(latency|wait)\Z")
_OTHERS = re.compile(rf"(?:[ \t]*,[ \t]*[\w.]*\b{_LEVEL}\b)*")
_VALUE = re.compile(r"[ \t]*=[ \t]*([\w.]+\.(?:latency|wait))\b")
_DIGITS = re.compile(r"(\d\d?)(?:\.(\d+))?\Z")


def percentile_help(fault: Fault) -> str | None:
    """Return how to list percentiles, where that is what is meant."""
    before = fault.before.rstrip()
    for pattern, hint in (
        (_OPENED, _without_levels),
        (_LISTED, _between_levels),
        (_NAMED, _with_a_name),
    ):
        found = pattern.search(before)
        help_text = None if found is None else hint(fault, found)
        if help_text is not None:
            return help_text
    timed = _TIMED.search(before)
    if timed is None or not re.fullmatch(_LEVEL, fault.word):
        return None
    single = _percentile(timed[1], timed[2], fault.word)
    whole = fault.before_it(timed[0]).to(fault.span)
    return instead(whole.text, single, at=whole, words=f"write `{single}`")


def _percentile(owner: str, word: str, level: str) -> str:
    return f"{owner}.wait.{level}" if word == "wait" else f"{owner}.{level}"


def _without_levels(fault: Fault, found: re.Match[str]) -> str | None:
    """Return what to write behind `measure page.latency`, or in place of `measure page.p50, …`."""
    statement, name = found.groups()
    digits = _DIGITS.match(fault.word)
    if digits is not None:
        level = f"p{digits[1]}" + (f"_{digits[2]}" if digits[2] else "")
        percent = re.match(r"[ \t]*%", fault.behind)
        whole = _from(fault.span.start, fault, fault.span.end + (percent.end() if percent else 0))
        return instead(whole.text, level, at=whole, words=f"write `{level}`")
    if fault.word == ",":
        return _list_of_names(fault, statement, name)
    if fault.word.strip(";}\n "):
        return None
    return _missing(statement, name)


def missing_percentiles(statement: str) -> str | None:
    """Return what to add to `measure page.latency`, where nothing follows.

    >>> missing_percentiles("measure page.wait")
    'list percentiles: `measure page.wait p50, p95`; for the mean, write `measure x = page.wait`'
    """
    found = _OPENED.search(statement)
    return None if found is None else _missing(*found.groups())


def _missing(statement: str, name: str) -> str | None:
    if _TIMED.search(name) is None:
        return None
    listed, mean = f"{statement} {name} p50, p95", f"{statement} x = {name}"
    return f"list percentiles: `{listed}`; for the mean, write `{mean}`"


def _list_of_names(fault: Fault, statement: str, name: str) -> str | None:
    """Return one list for names that are joined by commas."""
    others = _OTHERS.match(fault.span.source.text, fault.span.start)
    assert others is not None
    owner, _, first = name.rpartition(".")
    if _TIMED.search(name) is not None:
        words = f"remove the comma: `{statement} {name} p95`"
        return instead(",", "", at=fault.span, words=words)
    if not re.fullmatch(_LEVEL, first) or not others[0]:
        return None
    names = [one.strip() for one in others[0].split(",")[1:]]
    levels = ", ".join((first, *(one.rpartition(".")[2] for one in names)))
    value = _VALUE.match(fault.span.source.text, others.end())
    if owner:
        if any(one.rpartition(".")[0] != owner for one in names):
            return "list the percentiles of each latency on a separate line"
        timed, end = owner if owner.endswith(".wait") else f"{owner}.latency", others.end()
    elif value is not None:
        timed, end = value[1], value.end()
    else:
        return None
    whole = _from(fault.before_it(name).start, fault, end)
    levels_text = f"{timed} {levels}"
    return instead(whole.text, levels_text, at=whole, words=f"write `{statement} {levels_text}`")


def _between_levels(fault: Fault, found: re.Match[str]) -> str | None:
    """Return what is wrong between or behind the percentiles of a list."""
    if re.fullmatch(_LEVEL, fault.word):
        return insertion_before_hint(fault.span, ",", "put a comma before it")
    decimals = re.match(r"\d+", fault.behind)
    if fault.word == "." and decimals is not None:
        return instead(".", "_", at=fault.span, words=f"write `{found[2]}_{decimals[0]}`")
    timed = _TIMED.search(found[1])
    if fault.word in ("<", "<=", ">", ">=") and timed is not None:
        single = _percentile(timed[1], timed[2], found[2])
        return f"put limits into `require`: `require {{ {single} {fault.word} … }}`"
    return None


def _with_a_name(fault: Fault, found: re.Match[str]) -> str | None:
    """Return the list without a name: each percentile has one, such as `page.p95`."""
    if not re.fullmatch(_LEVEL, fault.word) or _TIMED.search(found[3]) is None:
        return None
    name = fault.before_it(found[2] + found[3])
    at = _from(name.start, fault, name.start + len(found[2]))
    hint = f"list percentiles without a name: `{found[1]} {found[3]} {fault.word}`"
    return instead(at.text, "", at=at, words=hint)


def _from(start: int, fault: Fault, end: int) -> Span:
    return Span(fault.span.source, start, end)
