"""What is wrong where the grammar cannot go on: lark's exceptions as diagnostics.

Each function of `_SLIPS` knows one kind of slip and how to mend it; the first that recognises
what it sees gives the hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import category, name

import lark

from qps.compiler import codes
from qps.compiler.diagnostics import Sink
from qps.compiler.source import Source, Span
from qps.compiler.suggest import closest, shortened
from qps.grammar.words import DECLARATIONS, RESERVED, TOKEN_CHOICES, TOKEN_WORDS, in_words

_MANY_EXPECTED = 4
_SURE = 0.74
_LOOKED_BACK = 200
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Fault:
    """A word that cannot stand where it stands."""

    span: Span
    before: str  # the text of the declaration up to the word
    accepted: frozenset[str]
    inside: bool  # of a bracket or block that is open

    @property
    def word(self) -> str:
        return self.span.text

    @property
    def behind(self) -> str:
        """The text behind the word."""
        text = self.span.source.text
        return text[self.span.end : self.span.end + _LONGEST_SHOWN]

    @property
    def previous(self) -> str:
        """The word before this one, with the sign in front of it: `; merg`."""
        found = re.search(r"(?:[{;\n]\s*)?\w+\s*$", self.before[-_LOOKED_BACK:])
        return found.group().strip() if found else ""


def report_syntax_error(
    error: lark.exceptions.UnexpectedInput, source: Source, start: int, end: int, sink: Sink
) -> None:
    """Turn an exception of lark's into a diagnostic."""
    if isinstance(error, lark.exceptions.UnexpectedToken) and error.token.type != "$END":
        at = error.token.start_pos or 0
        is_end = error.token.type == "_SEP"
        span = Span(source, at, at + 1 if is_end else max(error.token.end_pos or at, at + 1))
        _unexpected(error, span, start, sink)
    elif isinstance(error, lark.exceptions.UnexpectedCharacters):
        at = error.pos_in_stream or 0
        word = re.compile(r"\w+|.", re.DOTALL).match(source.text, at)
        span = Span(source, at, word.end() if word else at + 1)
        if source.text.startswith('"', at):
            _unclosed_text(span, sink)
        elif re.fullmatch(r"\w+", span.text) or span.text in "{}()[]=<>+-*/^,.:;~%$":
            _unexpected(error, span, start, sink)
        else:
            _character(span, sink)
    else:
        last = max(start, len(source.text[:end].rstrip()) - 1)
        _at_end(error, Span(source, last, min(last + 1, len(source.text))), start, sink)


# -- characters and texts ----------------------------------------------------------------

_CHARACTERS = {
    "|": "choices are joined by `or`",
    "&": "conditions are joined by `and`",
    "!": "`not` turns a condition round, `!=` compares",
    "?": "choose with `if … then … else …`",
    "€": "money is counted in `$` in this version",
    "@": "take it out",
    "\\": "a line goes on by itself after an operator or a comma: take it out",
    **dict.fromkeys("×·∙⋅", "multiply with `*`"),
    **dict.fromkeys("÷∕⁄", "divide with `/`"),
    **dict.fromkeys("−–—‐", "subtract with `-`"),
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "≈": "write `~`",
    "±": "write the deviation behind `within`",
    "→": "write `->`",
    "…": "write a range as `2..200`",
    **dict.fromkeys("'`´‘’“”„«»", 'texts stand in double quotes: `"`'),
}


def _character(span: Span, sink: Sink) -> None:
    character = span.text
    if category(character)[0] in "CZ":
        called = name(character, "a control character").lower()
        sink.report(
            codes.CHARACTER,
            span,
            f"a character that cannot be seen stands here: U+{ord(character):04X} ({called})",
            hint="take it out, or put a blank there instead",
        )
        return
    sink.report(
        codes.CHARACTER,
        span,
        f"`{character}` has no meaning in QPS",
        hint=_CHARACTERS.get(character, "take it out; in texts and comments it may stand"),
    )


def _unclosed_text(span: Span, sink: Sink) -> None:
    is_doc = span.source.text.startswith('"""', span.start)
    width = 3 if is_doc else 1
    sink.report(
        codes.UNCLOSED,
        Span(span.source, span.start, span.start + width),
        "this doc string is not closed" if is_doc else "this text in quotes is not closed",
        hint='close it with `"""`' if is_doc else 'close it with `"` on the same line',
    )


# -- brackets ----------------------------------------------------------------------------

_BRACKETS = re.compile(r'"[^"\n]*"|#[^\n]*|[{}()]')
_CLOSING = {"{": "}", "(": ")"}


def _open_brackets(text: str, start: int, end: int) -> tuple[list[int], int | None]:
    """Return where the brackets stand that are open at `end`, and one that looks unclosed.

    A block that ends further to the left than it started was closed by the bracket of
    another one: the block itself is the one that nobody closed.
    """
    open_at: list[tuple[int, int]] = []
    suspect: int | None = None
    line, previous = start, start
    for match in _BRACKETS.finditer(text, start, end):
        line = max(line, text.rfind("\n", previous, match.start()) + 1)
        previous = match.start()
        if match.group() in "{(":
            open_at.append((match.start(), _indentation(text, line)))
        elif match.group() in "})" and open_at:
            opened, indentation = open_at.pop()
            if suspect is None and _indentation(text, line) < indentation:
                suspect = opened
    return [at for at, _ in open_at], suspect


def _indentation(text: str, line: int) -> int:
    """Return how many blanks a line starts with, where it starts with few."""
    start = text[line : line + _LOOKED_BACK]
    return len(start) - len(start.lstrip(" \t"))


def _unclosed(source: Source, opening: int, sink: Sink) -> None:
    bracket = source.text[opening]
    sink.report(
        codes.UNCLOSED,
        Span(source, opening, opening + 1),
        f"this `{bracket}` is never closed",
        hint=f"add the missing `{_CLOSING[bracket]}`",
    )


# -- words that cannot stand where they stand --------------------------------------------


def _at_end(error: lark.exceptions.UnexpectedInput, span: Span, start: int, sink: Sink) -> None:
    """Report a declaration that stops too early; an open bracket is the usual reason."""
    open_at, suspect = _open_brackets(span.source.text, start, span.end)
    if open_at:
        _unclosed(span.source, open_at[-1] if suspect is None else suspect, sink)
        return
    accepted = _accepted(error)
    sink.report(
        codes.SYNTAX,
        span,
        "something is missing at the end",
        label=f"expected {_expected(accepted)} after this",
        hint=_RANGE_HINT if "RANGE" in accepted else "complete it, or take it out",
    )


def _unexpected(error: lark.exceptions.UnexpectedInput, span: Span, start: int, sink: Sink) -> None:
    """Report a word that cannot stand where it stands, with what could."""
    text = span.source.text
    open_at, _ = _open_brackets(text, start, span.start)
    if span.text == "}" and open_at and text[open_at[-1]] == "(":
        _unclosed(span.source, open_at[-1], sink)
        return
    fault = _Fault(span, text[start : span.start].rstrip(), _accepted(error), bool(open_at))
    is_end = not span.text.strip(";\n ")
    sink.report(
        codes.SYNTAX,
        span,
        "unexpected end of the line" if is_end else f"unexpected `{shortened(span.text)}`",
        label=f"expected {_expected(fault.accepted)}",
        hint=next(filter(None, (slip(fault) for slip in _SLIPS)), None),
    )


# -- the slips ---------------------------------------------------------------------------

_RANGE_HINT = "write a range as `2..200`"
_NESTED = {
    **dict.fromkeys(("node", "link"), "nodes and links stand in `topology { … }`"),
    **dict.fromkeys(("source", "at", "over"), "it is a part of a stream: `stream name { … }`"),
    **dict.fromkeys(("import", "include", "from"), "write `use`"),
    **dict.fromkeys(("def", "function"), "write `func`"),
    **dict.fromkeys(("const", "var", "set"), "write `param`, or `let` for what is computed"),
    **dict.fromkeys(("server", "host"), "write `machine`"),
}
_FOREIGN = {
    "per": "write `/` for `per`, as in `ms/packet`",
    "is": "compare with `==`",
    "equals": "compare with `==`",
    "unless": "write `if not …`",
    "when": "write `if`",
    "where": "write `with`",
    "given": "write `with`",
    "via": "write `over`",
    "through": "write `over`",
    "measure": "write `measured on`",
}
_NETWORK_WORDS = {
    **dict.fromkeys(("latency", "delay"), "write `propagation`"),
    **dict.fromkeys(("bandwidth", "speed", "capacity"), "write `rate`"),
    "half": "a link that takes turns is `shared`",
    "full": "write `duplex`",
}
_STATEMENTS = (
    *(word for words in TOKEN_CHOICES.values() for word in words),
    "merge", "source", "rating", "price", "node", "link", "at", "over",
)  # fmt: skip


def _first_word(fault: _Fault) -> str | None:
    if fault.inside or fault.before:
        return None
    if fault.word.startswith('"'):
        return 'a doc string stands between `"""`'
    if not fault.word.isidentifier():
        return None
    near = closest(fault.word, DECLARATIONS)
    if fault.word in _NESTED:
        return _NESTED[fault.word]
    if near is not None:
        return f"did you mean `{near}`?"
    return "a declaration starts with a word such as `param`, `component` or `stream`"


def _misspelt(fault: _Fault) -> str | None:
    if not fault.word.isidentifier() or fault.word in RESERVED:
        return None
    keywords = [t.lower() for t in fault.accepted if t.isalpha() and t not in TOKEN_WORDS]
    keywords += [word for token in fault.accepted for word in TOKEN_CHOICES.get(token, ())]
    near = closest(fault.word, keywords)
    return f"did you mean `{near}`?" if near else None


def _misspelt_before(fault: _Fault) -> str | None:
    starts_statement = fault.previous[:1] in "{;" or "\n" in fault.previous
    word = fault.previous.lstrip("{;\n ")
    if not word or word in RESERVED or not starts_statement:
        return None
    near = closest(word, _STATEMENTS, _SURE)
    return f"did you mean `{near}` instead of `{word}`?" if near and near != word else None


def _foreign(fault: _Fault) -> str | None:
    if fault.word == "and" and "COMMA" in fault.accepted:
        return "separate them with commas"
    if "LINK_PROPERTY" in fault.accepted and fault.word in _NETWORK_WORDS:
        return _NETWORK_WORDS[fault.word]
    for word in (fault.word, fault.previous.lstrip("{;\n ")):
        if word in _FOREIGN and word not in RESERVED:
            return _FOREIGN[word]
    return None


def _comma(fault: _Fault) -> str | None:
    if fault.word != ",":
        return None
    digits = re.search(r"\d[\d_]*$", fault.before)
    rest = re.match(r"\d{3}\b", fault.behind)
    if digits and rest:
        return f"write digits without commas: `{digits.group()}_{rest.group()}`"
    if digits and fault.behind[:1].isdigit():
        return "write the decimal point as `.`"
    if "EQUAL" in fault.accepted:
        return "declare each by itself"
    if "_SEP" in fault.accepted and fault.inside:
        return "statements end with `;` or a new line, not with a comma"
    return None


def _bracket(fault: _Fault) -> str | None:
    if fault.word in "[]":
        return "write a range as `2..200`, choices as `a or b`"
    if fault.word in "})" and not fault.inside:
        return f"nothing is open here that `{fault.word}` could close: take it out"
    if fault.word == ")" and fault.before.endswith("("):
        return "put the arguments between the brackets"
    if fault.word == ")" and "PLUS" in fault.accepted:
        return "no `(` is open here: take it out, or add the `(`"
    return None


def _equals(fault: _Fault) -> str | None:
    if fault.word not in ("=", ":"):
        return None
    if fault.before[-1:] in ("<", ">", "=", "!"):
        return f"write `{fault.before[-1]}=` without a blank"
    if fault.behind[:1] in ("<", ">"):
        return f"write `{fault.behind[0]}=`"
    if re.search(r"[{;\n]\s*\w+$", fault.before[-_LOOKED_BACK:]) and "NUMBER" in fault.accepted:
        return f"the value stands right behind the word, without `{fault.word}`"
    if "COMPARE" in fault.accepted:
        return "compare with `==`, `<=` or `>=`; `=` only gives a name its value"
    return None


def _operator(fault: _Fault) -> str | None:
    if fault.word == "*" and fault.before.endswith("*"):
        return "write powers with `^`"
    if fault.word == "/" and fault.before.endswith("/"):
        return "divide with one `/`; a comment starts with `#`"
    return None


def _number(fault: _Fault) -> str | None:
    if fault.word == ".":
        if "RANGE" in fault.accepted or fault.before.endswith(".."):
            return _RANGE_HINT
        if fault.before[-1:].isdigit():
            return f"write a digit behind the point: `{fault.before[-1]}.0`"
        return "write a digit before the point: `0.5`" if fault.behind[:1].isdigit() else None
    if any(category(character) == "No" for character in fault.previous):
        return "write powers as `x^2` and fractions as `0.5`"
    if not re.fullmatch(r"\d.*", fault.word):
        return None
    if fault.before[-1:].isdigit():
        return "write digits together, or with `_` between: `800_000`"
    if fault.before[-1:] in ("%", "$"):
        return f"the unit stands behind the number: `{shortened(fault.word)} {fault.before[-1]}`"
    return None


def _one_thing(fault: _Fault) -> str | None:
    """Where only one thing can stand, say so."""
    accepted = fault.accepted - {"DOT", "CIRCUMFLEX"}
    if not accepted:
        return "take out what stands from here on"
    if "ARROW" in accepted:
        accepted = frozenset({"ARROW"})
    if {"ALL", "ONE", "OTHERS"} <= accepted:
        return "write `to others`, `to all node` or `to one node`"
    if "LBRACE" in accepted:
        accepted -= {"LPAR"}
    if accepted == {"NAME"}:
        return _name_hint(fault.word)
    if accepted == {"STRING"}:
        return 'write it in quotes: `"…"`'
    if "RANGE" in accepted:
        return _RANGE_HINT
    if len(accepted) != 1:
        return None
    if fault.word in ("-", ".") and re.match(r"\w", fault.behind):
        return f"a name has letters, digits and `_`, but no `{fault.word}`"
    if fault.word == "in" and accepted == {"EQUAL"}:
        return "write `=` and a value first"
    where = "before it" if re.match(r"\w|\n", fault.word) else "instead"
    return f"write {in_words(next(iter(accepted)))} {where}"


def _name_hint(word: str) -> str:
    if word in RESERVED:
        return f"`{word}` is a word of the language and cannot be a name: call it `{word}_`"
    if word.strip('"').isidentifier():
        return f"write it without quotes: `{word.strip(chr(34))}`"
    if word[:1].isdigit():
        return "a name starts with a letter; digits may follow"
    return "put a name before it"


def _two_statements(fault: _Fault) -> str | None:
    if "_SEP" not in fault.accepted:
        return None
    end = "end the statement before it with `;` or a new line"
    if {"PLUS", "COMPARE"} & fault.accepted and fault.word not in RESERVED:
        return f"put an operator before it, or {end}"
    return end


def _anything(fault: _Fault) -> str | None:
    if fault.word in RESERVED and "NAME" in fault.accepted:
        return f"`{fault.word}` is a word of the language and cannot be a name"
    if fault.word in ("}", ")") or not fault.word.strip(";\n "):
        return "something is missing before it: write what is expected"
    return "take it out, or write what is expected here"


_SLIPS: tuple[Callable[[_Fault], str | None], ...] = (
    _first_word,
    _misspelt,
    _foreign,
    _misspelt_before,
    _comma,
    _bracket,
    _equals,
    _operator,
    _number,
    _one_thing,
    _two_statements,
    _anything,
)


# -- what was expected -------------------------------------------------------------------


def _accepted(error: lark.exceptions.UnexpectedInput) -> frozenset[str]:
    found: object = getattr(error, "expected", ())
    if isinstance(error, lark.exceptions.UnexpectedToken):
        found = error.accepts or error.expected
    elif isinstance(error, lark.exceptions.UnexpectedCharacters):
        found = error.allowed or ()
    assert isinstance(found, (set, frozenset, list, tuple))
    return frozenset(map(str, found)) - {"_CONTINUATION", "SPACE", "COMMENT"}


_EXPRESSION_STARTS = frozenset(["NUMBER", "NAME", "LPAR", "MINUS", "SIGN", "NOT", "IF"])
_OPERATORS = frozenset(
    ["PLUS", "MINUS", "TIMES", "SLASH", "COMPARE", "CIRCUMFLEX", "AND", "OR", "DOT"]
)
_NAME_GOES_ON = frozenset(["DOT", "LPAR", "CIRCUMFLEX", "TIMES"])
_ENDS = ("RBRACE", "_SEP", "$END")


def _expected(accepted: frozenset[str]) -> str:
    """Return in words what the grammar would have taken, at most four things."""
    rest = set(accepted)
    words: list[str] = []
    if {word.upper() for word in DECLARATIONS} <= rest:
        words.append("a declaration")
        rest -= {word.upper() for word in DECLARATIONS} | {"DOC", "_SEP", "$END"}
    if {"NUMBER", "NAME", "LPAR"} <= rest:
        words.append("a quantity such as `10 Mbit/s`")
        rest -= _EXPRESSION_STARTS | {"_SEP"}
    if {"PLUS", "TIMES"} <= rest:
        words.append("an operator")
        rest -= _OPERATORS | {"LPAR", "SIGN"}
    if rest - _NAME_GOES_ON:
        rest -= _NAME_GOES_ON - {"LPAR"} if "LBRACE" in rest else _NAME_GOES_ON
    named = [word for token in rest for word in TOKEN_CHOICES.get(token, ())]
    named = [f"`{word}`" for word in named]
    named += [in_words(token) for token in rest if token not in (*TOKEN_CHOICES, *_ENDS)]
    words += sorted(named)
    words += [in_words(token) for token in _ENDS if token in rest]
    if len(words) > _MANY_EXPECTED:
        words = [*words[: _MANY_EXPECTED - 1], "…"]
    if len(words) <= 1:
        return words[0] if words else "the end"
    return f"{', '.join(words[:-1])} or {words[-1]}"
