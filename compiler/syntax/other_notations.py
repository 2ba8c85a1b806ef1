"""What other tools and textbooks write in another way: what is written here is named."""

from __future__ import annotations

import re

from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.compiler.quantities.units import BUILT_IN
from qps.compiler.syntax.faults import CHARACTERS_BEFORE, Fault


def other_notation_help(fault: Fault) -> str | None:
    """Return what is written here, where a statement is written as elsewhere; else None."""
    return next(filter(None, (known(fault) for known in _NOTATIONS)), None)


_AMOUNT = re.compile(r"([ \t]*[^\W\d][\w/]*)?[ \t]+(?:of|on|to|from)[ \t]+([^\W\d]\w*)")


def _cost(fault: Fault) -> str | None:
    """Where a cost begins with its amount: `component api { 5 ms of cpu }`."""
    if not re.match(r"component\b[^{]*\{", fault.before) or not fault.word[:1].isdigit():
        return None
    line = fault.span.source.text[: fault.span.start].rstrip(" \t")
    if fault.opened != "{" or not line.endswith(("{", ";", "\n")):
        return None
    found = _AMOUNT.match(fault.behind)
    if found is None:
        return f"put the resource first: `cpu {fault.word} ms/request`"
    amount = f"{fault.word}{found[1] or ''}"
    whole = Span(fault.span.source, fault.span.start, fault.span.end + found.end())
    first = f"{found[2]} {amount}"
    return instead(whole.text, first, at=whole, words=f"put the resource first: `{first}`")


def _stream_by_its_ends(fault: Fault) -> str | None:
    """Where a stream is written by its two ends: `stream pages from client to web`."""
    stream = re.search(r"^stream\s+(\w+)(?:\s+in(?:\s+\w+)?)?$", fault.before)
    if stream is None:
        return None
    ends = re.match(r"(?:from|in|:)?\s*(\w+)\s*(?:to\b|->|→)\s*(\w+)", fault.word + fault.behind)
    ends = ends or re.match(r"()to\s+(\w+)", fault.word + fault.behind)
    if ends is None:
        return None
    client = ends[1] or "client"
    return (
        f"write who sends it, and the nodes that it visits in their order: "
        f"`stream {stream[1]} for each {client} {{ …; at {ends[2]} {{ … }} }}`"
    )


def _count_before_a_machine(fault: Fault) -> str | None:
    """Where the machines of a node are counted first: `node web = 3 x app`."""
    found = re.search(r"\bnode\s+\w+\s*=\s*(\d[\d_]*)\s*(?:x|times)?$", fault.before)
    machine = re.match(r"(?:x|times)?[ \t]*([^\W\d]\w*)", fault.word + fault.behind)
    if found is None or machine is None:
        return None
    start = fault.span.start - len(fault.before) + found.start(1)
    whole = Span(fault.span.source, start, fault.span.start + machine.end())
    count = f"{machine[1]} * {found[1]}"
    if not whole.text.startswith(found[1]):  # where blanks or comments stand between
        return f"write `{count}`"
    return instead(whole.text, count, at=whole, words=f"write `{count}`")


def _rate_in_a_stream(fault: Fault) -> str | None:
    """Where a stream states its arrivals by another word: `rate 0.1 request/s`."""
    if fault.word not in ("rate", "rps", "qps", "load", "throughput", "arrival"):
        return None
    if not fault.before.startswith("stream") or "AT" not in fault.accepted:
        return None
    amount = re.match(r"[ \t]*[=:]?[ \t]*(\d[\w.]*)", fault.behind)
    return f"write `traffic {amount[1] if amount else 2} request/s`, or name a parameter"


_OF_STEPS = {
    "call": " … { … }",
    "together": " { … }",
    "one of": " { … }",
    "take": " …",
    "give": " …",
}
"""What begins a step that stands within a node, and what follows it."""


def _step_in_a_stream(fault: Fault) -> str | None:
    """Where what is done at a node stands in a stream itself: `one of { … }`, `call db { … }`."""
    word, rest = fault.word, _OF_STEPS.get(fault.word)
    if rest is None or not fault.before.startswith("stream") or "AT" not in fault.accepted:
        return None
    return f"write it in the node that does it: `at client {{ {word}{rest} }}`"


def _limit_without_braces(fault: Fault) -> str | None:
    """Where a limit stands without braces: `require page.p99 <= 200 ms`."""
    if re.search(r"(^|\n)require$", fault.before) is None:
        return None
    stated = re.match(r"[^\n;{}#]*", fault.behind)
    limit = (fault.word + (stated[0] if stated else "")).strip()
    if not re.search(r"[<>]=?", limit):
        return None
    whole = Span(fault.span.source, fault.span.start, fault.span.start + len(limit))
    each = re.sub(r"\s+and\s+|\s*,\s*", "; ", limit)
    words = f"write `require {{ {each} }}`"
    if whole.text != limit:  # where blanks or comments stand between
        return words
    return instead(whole.text, f"{{ {each} }}", at=whole, words=words)


def _unit_of_a_name(fault: Fault) -> str | None:
    """Where a unit stands behind a name, as behind a number: `cpu cores core`."""
    found = re.search(r"\b(?:cpu|disk|memory|rate|threads|in|=|,)\s*([^\W\d]\w*)$", fault.before)
    if found is None or fault.word not in BUILT_IN or found[1] in BUILT_IN:
        return None
    value = f"{found[1]} * 1 {fault.word}"
    start = fault.span.start - len(fault.before) + found.start(1)
    whole = Span(fault.span.source, start, fault.span.end)
    words = f"write `{value}`"
    if whole.text.split() != [found[1], fault.word]:  # where comments stand between
        return words
    return instead(whole.text, value, at=whole, words=words)


def _values_without_brackets(fault: Fault) -> str | None:
    """Where the values of an axis or a choice stand without brackets: `cores in 2, 4, 8`."""
    found = re.search(r"\bin\s+([\w.]+(?:[ \t]+[\w/]+)?)$", fault.before)
    if found is None or fault.word != "," or not re.match(r"(matrix|choose)\b", fault.before):
        return None
    others = re.match(r"[^\n;}#]*", fault.behind)
    values = found[1] + "," + (others[0].rstrip() if others else "")
    start = fault.span.start - len(fault.before) + found.start(1)
    whole = Span(fault.span.source, start, start + len(values))
    words = f"put the values in brackets: `[{values}]`"
    if whole.text != values:  # where comments stand between
        return words
    return instead(whole.text, f"[{values}]", at=whole, words=words)


_KENDALL = re.compile(r"(M|D|G|GI)/(M|D|G)/(\d+|[cCkmn])\b")
_SERVICES = {"M": "m", "D": "d", "G": "g"}


def _law_by_kendall(fault: Fault) -> str | None:
    """Where a discipline is written as textbooks do: `queueing web.cpu: M/M/c`."""
    line = fault.before[-CHARACTERS_BEFORE:].rpartition("\n")[2]
    statement = re.search(r"\bqueueing\b([^;{}]*)$", line)
    found = _KENDALL.search(line + fault.word + fault.behind.partition("\n")[0])
    if statement is None or found is None:
        return None
    resource = re.match(r"\s*([\w.]+)", statement[1])
    servers = "1" if found[3] == "1" else "c"
    arrivals = {"D": "d", "M": "m"}.get(found[1], "g")
    word = f"{arrivals}{_SERVICES[found[2]]}{servers}"
    if word not in DISCIPLINES:
        return "the laws are " + ", ".join(f"`{one}`" for one in DISCIPLINES)
    variation = " cv 1.2" if DISCIPLINES[word].traits.variation is None else ""
    name = resource[1] if resource else "cpu"
    return f"write `queueing {name} {word}{variation}`"


def _loss_by_another_word(fault: Fault) -> str | None:
    """Where a limit of losses is written `error rate < 0.1 %`."""
    if fault.word != "rate" or re.search(r"\b(error|loss|failure|drop)$", fault.before) is None:
        return None
    return "name the stream: `page.loss <= 0.1 %`"


_NOTATIONS = (
    _cost,
    _stream_by_its_ends,
    _count_before_a_machine,
    _rate_in_a_stream,
    _step_in_a_stream,
    _limit_without_braces,
    _unit_of_a_name,
    _values_without_brackets,
    _law_by_kendall,
    _loss_by_another_word,
)
