"""Mends as edits: what they take along, and what they leave."""

from __future__ import annotations

import pytest

from helpers.applied_fixes import apply_fix
from qps.compiler.diagnostics.fixits import (
    Hint,
    fixes_of,
    numbering_hint,
    removal_hint,
    removal_with_word_hint,
    single_statement_hint,
    swapping_hint,
)
from qps.compiler.diagnostics.source import Source, Span


def of(text: str) -> tuple[str, Span, Span]:
    """Return a text without its marks, and what stood between the first two and the last two."""
    parts = text.split("‸")
    plain = "".join(parts)
    ends = [len("".join(parts[: n + 1])) for n in range(len(parts) - 1)]
    source = Source("a", plain)
    return plain, Span(source, ends[0], ends[1]), Span(source, ends[-2], ends[-1])


def after(hint: Hint, text: str) -> str:
    found = fixes_of([hint], None)
    return apply_fix(found[0], text) if found else "no fix"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # A whole line goes with its comment and its doc string, the file's own stays.
        ('a\n"""Of it."""\n‸param b = 3‸  # why\nc\n', "a\nc\n"),
        ('"""File."""\n‸param b = 3‸\nc\n', '"""File."""\nc\n'),
        ("a\n  ‸b‸", "a\n"),
        # What joins it to its neighbors goes, too.
        ("x { a, ‸b‸ }", "x { a }"),
        ("x { ‸a‸, b }", "x { b }"),
        ("x { a; ‸b‸ }", "x { a }"),
        ("x { ‸a‸; b }", "x { b }"),
        ("x { a,\n    ‸b‸ }", "x { a }"),
        ("x { ‸a‸ }", "x { }"),
    ],
)
def test_what_is_taken_out_leaves_no_comma_and_no_line(text: str, left: str) -> None:
    plain, span, _ = of(text)
    assert after(removal_hint(span, "take it out"), plain) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("call db, sends 1 kB, sends ‸2 kB‸ { }", "call db, sends 1 kB { }"),
        ("a\ntarget ‸cpu 60 %‸\nb", "a\nb"),
        ("target ‸cpu 60 %‸, link 80 %", "no fix"),  # the word belongs to the rest, too
        ("cpu 3 ms at 30 % load at ‸40 %‸ load", "no fix"),  # where it ends is not clear
    ],
)
def test_what_is_said_twice_is_said_once_where_it_is_clear(text: str, left: str) -> None:
    plain, span, _ = of(text)
    assert after(single_statement_hint(span), plain) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("in ‸900‸..‸100 byte/packet‸, 5", "in 100..900 byte/packet, 5"),
        ("in ‸9 ms‸ .. ‸2 s‸", "in 2 s .. 9 ms"),
        ("in ‸high‸..‸low‸", "in low..high"),
    ],
)
def test_ends_change_places_and_the_unit_of_both_stays(text: str, left: str) -> None:
    plain, one, other = of(text)
    assert after(swapping_hint(one, other), plain) == left


def test_a_new_name_is_nobodys_and_a_word_goes_with_its_value() -> None:
    plain, span, _ = of("param ‸a‸ = a_2")
    assert after(numbering_hint(span, "rename one of them"), plain) == "param a_3 = a_2"
    plain, span, _ = of("keep 80 % for ‸1 s‸ }")
    assert after(removal_with_word_hint(span, "leave `for` out"), plain) == "keep 80 % }"
