"""Signs and numbers that go wrong: commas, brackets, operators, units."""

from __future__ import annotations

import re
from unicodedata import category

from qps.compiler.diagnostics.fixits import insertion_before_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.quantities.units import built_in
from qps.compiler.syntax.faults import CHARACTERS_BEFORE, RANGE_HINT, Fault
from qps.grammar.keywords import keywords


def comma_help(fault: Fault) -> str | None:
    """Where a comma stands for something else, or beside what ends by itself."""
    if fault.word != ",":
        return None
    digits = re.search(r"\d[\d_]*$", fault.before)
    rest = re.match(r"\d{3}\b", fault.behind)
    if digits and rest:
        hint = f"write digits without commas: `{digits.group()}_{rest.group()}`"
        return instead(",", "_", at=fault.span, words=hint)
    if digits and fault.behind[:1].isdigit():
        return instead(",", ".", at=fault.span, words="write the decimal point as `.`")
    if "EQUAL" in fault.accepted:
        return "declare each one separately"
    if "_SEP" in fault.accepted and fault.opened:
        hint = "end the statement with `;` or a new line, not a comma"
        return instead(",", ";", at=fault.span, words=hint)
    return None


_COMMENTS = {"/": ("/", "*"), "-": ("-",)}
"""Signs with which comments of other languages begin, and what stands behind them."""


def comment_help(fault: Fault) -> str | None:
    """Where a comment is that of another language: `// text`, `/* text`, `-- text`."""
    if fault.before[-1:] not in ("", "{", ";") or fault.behind[:1] not in _COMMENTS.get(
        fault.word, ()
    ):
        return None
    hint = "write a comment with `#`, up to the end of the line"
    both = Span(fault.span.source, fault.span.start, fault.span.end + 1)
    return instead(both.text, "#", at=both, words=hint)


_FROM = r"[=*]\s*(\d[\d_.]*)$"
_TO = r"\s*\d[\d_.]*"


def range_help(fault: Fault) -> str | None:
    """Where a range stands for a value: `param pods = 3..12`, `node api = pod * 3..12`."""
    low = re.search(_FROM, fault.before[-CHARACTERS_BEFORE:])
    high = re.match(_TO, fault.behind)
    if fault.word != ".." or low is None or high is None:
        return None
    if re.match(r"(param|let)\b", fault.before):
        hint = f"put the value first, then its range: `{low[1]} in {low[1]}..{high[0]}`"
        return instead("..", f" in {low[1]}..", at=fault.span, words=hint)
    return (
        "a count must be one number; for autoscaling, write `let many = clamp(ceil(…), "
        f"{low[1]}, {high[0].strip()})`, and `* many`"
    )


_ENDS = r"\s*([\d_.]+)\s*(?:,|\.\.)\s*([\d_.]+(?: *[\w/]+)?)\s*\]"


def bracket_help(fault: Fault) -> str | None:
    """Where a bracket opens what has none, or closes nothing."""
    if fault.word == "[" and re.search(r"\bscenario\s+in\s+\[[^\]]*$", fault.before):
        return (
            "combine them in a scenario, `scenario both { scenario = [one, other] }`, and list that"
        )
    if fault.word in "[]":
        hint = "write a range as `2..200`, choices as `a or b`"
        ends = re.match(_ENDS, fault.behind) if fault.word == "[" else None
        if ends is None:
            return hint
        whole = Span(fault.span.source, fault.span.start, fault.span.end + ends.end())
        return instead(whole.text, f"{ends[1]}..{ends[2]}", at=whole, words=hint)
    if fault.word in "})" and not fault.opened:
        hint = f"remove `{fault.word}`, which has no opening match"
        return instead(fault.word, "", at=fault.span, words=hint)
    if fault.word == ")" and fault.opened != "(":
        return "remove it, or add the missing `(`"
    if fault.word == ")" and fault.before.endswith("("):
        return "put the arguments between the parentheses"
    return None


def equals_help(fault: Fault) -> str | None:
    """Where `=` or `:` stands for a comparison, or before a value that needs none."""
    if fault.word not in ("=", ":"):
        return None
    if fault.before[-1:] in ("<", ">", "=", "!"):
        both = fault.before_it(fault.before[-1]).to(fault.span)
        hint = f"write `{fault.before[-1]}=` without a space"
        if fault.before[-1] == "=":
            return hint  # a second one by mistake, as likely
        return instead(both.text, f"{fault.before[-1]}=", at=both, words=hint)
    if fault.behind[:1] in ("<", ">"):
        both = Span(fault.span.source, fault.span.start, fault.span.end + 1)
        return instead(both.text, f"{fault.behind[0]}=", at=both)
    if (
        re.search(r"[{;\n]\s*\w+$", fault.before[-CHARACTERS_BEFORE:])
        and "NUMBER" in fault.accepted
    ):
        hint = f"put the value right after the keyword, without `{fault.word}`"
        return instead(fault.with_blanks.text, " ", at=fault.with_blanks, words=hint)
    if "COMPARE" in fault.accepted:
        hint = "compare with `==`, `<=` or `>=`; `=` only sets a value"
        return instead(fault.word, "==", "<=", ">=", at=fault.span, words=hint)
    return None


def missing_equals_help(fault: Fault) -> str | None:
    """Where the value of a name stands right behind it: `param k 12`."""
    if "EQUAL" not in fault.accepted or not fault.word[:1].isdigit():
        return None
    hint = f"write `=` before it: `{shortened(fault.previous)} = {shortened(fault.word)}`"
    return insertion_before_hint(fault.span, " =", hint)


def operator_help(fault: Fault) -> str | None:
    """Where an operator is that of another language: `**`, `//`."""
    if fault.word == "*" and fault.before.endswith("*"):
        both = fault.before_it("*").to(fault.span)
        return instead(both.text, "^", at=both, words="write powers with `^`")
    if fault.word == "/" and fault.before.endswith("/"):
        both = fault.before_it("/").to(fault.span)
        hint = "divide with one `/`; a comment starts with `#`"
        return instead(both.text, "/", "#", at=both, words=hint)
    return None


def number_help(fault: Fault) -> str | None:
    """Where a number is written as elsewhere: `.5`, `5.`, `800 000`, `$ 5`."""
    if fault.word == ".":
        if "RANGE" in fault.accepted or fault.before.endswith(".."):
            return RANGE_HINT
        if fault.before[-1:].isdigit():
            hint = f"write a digit after the point: `{fault.before[-1]}.0`"
            return instead(".", ".0", at=fault.span, words=hint)
        hint = "write a digit before the point: `0.5`"
        is_fraction = fault.behind[:1].isdigit()
        return instead(".", "0.", at=fault.span, words=hint) if is_fraction else None
    if any(category(character) == "No" for character in fault.previous):
        return "write powers as `x^2` and fractions as `0.5`"
    if not re.fullmatch(r"\d.*", fault.word):
        return None
    if fault.before[-1:].isdigit():
        hint = "write digits without spaces, or with `_`: `800_000`"
        at = fault.span.source.text[: fault.span.start].rstrip()
        blanks = Span(fault.span.source, len(at), fault.span.start)
        return instead(blanks.text, "_", at=blanks, words=hint)
    if fault.before[-1:] in ("%", "$"):
        both = fault.before_it(fault.before[-1]).to(fault.span)
        rest = re.match(r"(?:\s*/\s*\w+)?", fault.behind)
        unit = fault.before[-1] + (rest[0].replace(" ", "") if rest else "")
        hint = f"put the unit after the number: `{shortened(fault.word)} {unit}`"
        return instead(both.text, f"{fault.word} {fault.before[-1]}", at=both, words=hint)
    return None


def unit_help(fault: Fault) -> str | None:
    """Where a unit stands behind a name or a bracket, which may have a unit of its own."""
    if built_in(fault.word) is not None and fault.before[-1:] == "]":
        return f"give each number its unit: `[1 {fault.word}, 2 {fault.word}]`"
    name = re.search(r"[\w.]+$|\)$", fault.before[-CHARACTERS_BEFORE:])
    if built_in(fault.word) is None or "PLUS" not in fault.accepted or name is None:
        return None
    if name.group() in keywords() or name.group()[:1].isdigit():
        return None
    left = name.group() if name.group() != ")" else "(…)"
    unit = re.match(r"(?:\s*/\s*\w+)?", fault.behind)
    written = fault.word + (unit.group().replace(" ", "") if unit else "")
    hint = f"write `{left} * 1 {written}`, or only `{left}` if it has a unit"
    whole = Span(fault.span.source, fault.span.start, fault.span.end + (unit.end() if unit else 0))
    return instead(whole.text, f"* 1 {written}", "", at=whole, words=hint)


def users_help(fault: Fault) -> str | None:
    """Where the plural of `unit user` ends a statement, as the size of a group does."""
    if fault.word != "users" or not fault.before[-1:].isdigit():
        return None
    return "write `user` for the unit; `users` at the end is the size of a group"
