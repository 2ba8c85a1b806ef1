"""The commonest mistakes of the pen, and how to fix each.

Each function of `_MISTAKES` knows one kind; the first that recognizes what it sees gives the hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qps.compiler.diagnostics.fixits import insertion_before_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax.date_hints import month_help, time_of_day_help
from qps.compiler.syntax.event_hints import event_time_help, failure_help, profile_help
from qps.compiler.syntax.faults import RANGE_HINT, Fault
from qps.compiler.syntax.other_notations import other_notation_help
from qps.compiler.syntax.percentile_hints import percentile_help
from qps.compiler.syntax.sign_hints import (
    bracket_help,
    comma_help,
    comment_help,
    equals_help,
    missing_equals_help,
    number_help,
    operator_help,
    range_help,
    unit_help,
    users_help,
)
from qps.compiler.syntax.statement_hints import (
    arrivals_help,
    call_help,
    chance_help,
    changed_machine_help,
    condition_help,
    group_help,
    list_help,
    member_help,
    pool_help,
    priority_help,
    queueing_in_machine_help,
    run_help,
    size_in_help,
    source_help,
    target_help,
    think_time_help,
    use_help,
)
from qps.compiler.syntax.word_hints import (
    case_help,
    first_word_help,
    foreign_word_help,
    misspelling_help,
    preceding_misspelling_help,
)
from qps.grammar.keywords import keywords
from qps.grammar.words import TOKEN_CHOICES, in_words


def syntax_help(fault: Fault) -> str | None:
    """Return what to write instead, as far as that can be decided."""
    return next(filter(None, (mistake(fault) for mistake in _MISTAKES)), None)


_PERCENTILE = re.compile(r"\.(p\d{1,2})\.\Z")
_UNQUOTED = re.compile(r"[^\n;{}#\"]*[^\s;{}#\"]")


def _one_thing(fault: Fault) -> str | None:
    """Where only one thing can stand, say so."""
    accepted = fault.accepted - {"DOT", "CIRCUMFLEX"}
    if not accepted:
        return "remove the rest"
    if "ARROW" in accepted:
        accepted = frozenset({"ARROW"})
    if {"ALL", "ONE", "OTHERS"} <= accepted:
        return "write `to others`, `to 2 others`, `to all node` or `to one node`"
    if "LBRACE" in accepted:
        accepted -= {"LPAR"}
    if accepted == {"NAME"}:
        return _name_hint(fault)
    if accepted == {"STRING"}:
        words = _UNQUOTED.match(fault.span.source.text, fault.span.start)
        if words is None or not fault.word.isidentifier():
            return 'write it in quotes: `"…"`'
        at = Span(fault.span.source, words.start(), words.end())
        return instead(at.text, f'"{at.text}"', at=at, words='write it in quotes: `"…"`')
    if {"RANGE", "COMMA", "RSQB"} <= accepted and fault.word.isidentifier():
        return fault.after_a_comma  # a list of an axis, such as `[on off]`
    if "RANGE" in accepted:
        is_range = fault.word in ("to", "-", ",", ":") and re.match(r"\s*\d", fault.behind)
        at = fault.with_blanks
        return instead(at.text, "..", at=at, words=RANGE_HINT) if is_range else RANGE_HINT
    if len(accepted) != 1:
        return None
    if fault.word in ("-", ".") and re.match(r"\w", fault.behind):
        hint = f"a name has letters, digits and `_`, not `{fault.word}`"
        return instead(fault.word, "_", at=fault.span, words=hint)
    if fault.word == "in" and accepted == {"EQUAL"}:
        return "write `=` and a value first"
    (only,) = accepted
    if only in TOKEN_CHOICES:
        return f"write {' or '.join(f'`{word}`' for word in TOKEN_CHOICES[only])} before it"
    where = "before it" if re.match(r"\w|\n", fault.word) else "instead"
    return f"write {in_words(only)} {where}"


def _name_hint(fault: Fault) -> str:
    word, bare = fault.word, fault.word.strip('"')
    if word in keywords():
        hint = f"`{word}` is a reserved word: rename it, for example to `{word}_`"
        return instead(word, f"{word}_", at=fault.span, words=hint)
    if bare.isidentifier():
        return instead(word, bare, at=fault.span, words=f"write it without quotes: `{bare}`")
    percentile = _PERCENTILE.search(fault.span.source.text[: fault.span.start])
    if word.isdecimal() and percentile is not None:
        point = Span(fault.span.source, fault.span.start - 1, fault.span.start)
        return instead(".", "_", at=point, words=f"write `{percentile[1]}_{word}`")
    if word[:1].isdigit():
        return "start the name with a letter"
    return "put a name before it"


def _two_statements(fault: Fault) -> str | None:
    if "_SEP" not in fault.accepted:
        return None
    end = "end the statement before it with `;` or a new line"
    if {"PLUS", "COMPARE"} & fault.accepted and fault.word not in keywords():
        return f"put an operator before it, or {end}"
    return end if fault.word[:1].isdigit() else insertion_before_hint(fault.span, ";", end)


def _anything(fault: Fault) -> str | None:
    if fault.word in keywords() and "NAME" in fault.accepted:
        return f"`{fault.word}` is a reserved word and cannot be a name"
    if fault.word in ("}", ")") or not fault.word.strip(";\n "):
        return "insert the missing part before it"
    return "remove it, or replace it by what is expected"


_MISTAKES: tuple[Callable[[Fault], str | None], ...] = (
    comment_help,
    percentile_help,
    time_of_day_help,
    month_help,
    profile_help,
    failure_help,
    event_time_help,
    range_help,
    queueing_in_machine_help,
    arrivals_help,
    first_word_help,
    case_help,
    misspelling_help,
    foreign_word_help,
    preceding_misspelling_help,
    priority_help,
    group_help,
    changed_machine_help,
    other_notation_help,
    pool_help,
    call_help,
    chance_help,
    condition_help,
    source_help,
    target_help,
    use_help,
    member_help,
    list_help,
    run_help,
    size_in_help,
    think_time_help,
    comma_help,
    bracket_help,
    equals_help,
    missing_equals_help,
    operator_help,
    number_help,
    unit_help,
    users_help,
    _one_thing,
    _two_statements,
    _anything,
)
