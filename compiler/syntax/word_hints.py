"""Words that are meant for others: misspelt, of other languages, or out of their place."""

from __future__ import annotations

import re

from qps.compiler.diagnostics.fixits import Hint, instead
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.quantities.units import BUILT_IN
from qps.compiler.syntax.faults import Fault
from qps.grammar.keywords import declarations, keywords
from qps.grammar.words import TOKEN_CHOICES, TOKEN_WORDS

_SIMILAR_ENOUGH = 0.74


_NESTED = {
    **dict.fromkeys(("node", "link"), "put nodes and links into `topology { … }`"),
    **dict.fromkeys(("source", "at", "over", "event"), "put it into a stream: `stream name { … }`"),
}
_FIRST_WORDS = {
    **dict.fromkeys(("import", "include", "from"), ("use",)),
    **dict.fromkeys(("def", "function"), ("func",)),
    **dict.fromkeys(("const", "var", "set"), ("param", "let")),
    **dict.fromkeys(("server", "host"), ("machine",)),
}
_FOREIGN = {
    "per": "/",
    "is": "==",
    "equals": "==",
    "unless": "if not",
    "when": "if",
    "where": "with",
    "given": "with",
    "via": "over",
    "through": "over",
    "measure": "measured on",
    "invoke": "call",
    "parallel": "together",
    "fork": "together",
    **dict.fromkeys(("acquire", "lock", "hold", "seize", "borrow"), "take"),
    **dict.fromkeys(("release", "unlock", "free"), "give"),
}
_SAID = {
    "per": "write `/` for `per`, as in `ms/packet`",
    "is": "compare with `==`",
    "equals": "compare with `==`",
    "unless": "write `if not …`",
    "let": "write `param`, or `let` for a computed value",
    "shared": "for a half-duplex medium, write `shared`",
}
"""What is said of some words instead of ``write `word` ``, by them or by what is to be written."""
_NETWORK_WORDS = {
    **dict.fromkeys(("latency", "delay"), "propagation"),
    **dict.fromkeys(("bandwidth", "speed", "capacity"), "rate"),
    "half": "shared",
    "full": "duplex",
}
_STATEMENTS = (
    *(word for words in TOKEN_CHOICES.values() for word in words),
    "merge", "source", "rating", "price", "node", "link", "at", "over", "call", "together",
    "take", "give",
)  # fmt: skip


def first_word_help(fault: Fault) -> str | None:
    """Where a declaration starts with a word that starts none."""
    if fault.opened or fault.before:
        return None
    if fault.word.startswith('"'):
        doc = f'""{fault.word}""'
        return instead(fault.word, doc, at=fault.span, words='put a docstring between `"""`')
    if not fault.word.isidentifier():
        return None
    near = closest(fault.word, declarations())
    if fault.word in _NESTED:
        return _NESTED[fault.word]
    if fault.word in _FIRST_WORDS:
        others = _FIRST_WORDS[fault.word]
        return instead(fault.word, *others, at=fault.span, words=_SAID.get(others[-1], ""))
    if near is not None:
        return meant(fault, near)
    return "start a declaration with a keyword such as `param`, `component` or `stream`"


def misspelling_help(fault: Fault) -> str | None:
    """Where a word of the language is misspelt."""
    if not fault.word.isidentifier() or fault.word in keywords() or fault.word in BUILT_IN:
        return None
    words = [t.strip("_") for t in fault.accepted if t not in TOKEN_WORDS]
    possible = [t.lower() for t in words if t.isalpha()]
    possible += [word for token in fault.accepted for word in TOKEN_CHOICES.get(token, ())]
    near = closest(fault.word, possible)
    return meant(fault, near) if near else None


def meant(fault: Fault, suggestion: str) -> Hint:
    """Return the hint that another word was meant."""
    return instead(fault.word, suggestion, at=fault.span, words=f"did you mean `{suggestion}`?")


def preceding_misspelling_help(fault: Fault) -> str | None:
    """Where the word before is misspelt, with which a statement starts."""
    starts_statement = fault.previous[:1] in "{;" or "\n" in fault.previous
    word = fault.previous.lstrip("{;\n ")
    if not word or word in keywords() or not starts_statement:
        return None
    if re.search(rf"\bcomponent\s+{word}\b", fault.span.source.text):
        return None  # a step, and no mistake
    near = closest(word, _STATEMENTS, _SIMILAR_ENOUGH)
    if near is None or near == word:
        return None
    hint = f"did you mean `{near}` instead of `{word}`?"
    return instead(word, near, at=fault.before_it(word), words=hint)


def foreign_word_help(fault: Fault) -> str | None:
    """Where a word is that of another language."""
    if fault.word == "and" and "COMMA" in fault.accepted:
        return "separate them with commas"
    if "LINK_PROPERTY" in fault.accepted and fault.word in _NETWORK_WORDS:
        other = _NETWORK_WORDS[fault.word]
        return instead(fault.word, other, at=fault.span, words=_SAID.get(other, ""))
    before = fault.previous.lstrip("{;\n ")
    for word, at in ((fault.word, fault.span), (before, fault.before_it(before))):
        if word in _FOREIGN and word not in keywords():
            return instead(word, _FOREIGN[word], at=at, words=_SAID.get(word, ""))
    return None


_CASE_WORDS = {
    **dict.fromkeys(("mean", "avg", "typical", "usual"), "average"),
    **dict.fromkeys(("minimum", "min", "smallest", "lowest", "best"), "least"),
    **dict.fromkeys(("maximum", "max", "greatest", "highest", "peak", "worst"), "largest"),
}


def case_help(fault: Fault) -> str | None:
    """Where the value of a case goes wrong: another word for it, no comma, no value."""
    before = fault.previous.lstrip("{;\n ")
    for word, at in ((fault.word, fault.span), (before, fault.before_it(before))):
        if word in _CASE_WORDS and (
            {"CASE", "BARE_CASE"} & fault.accepted or fault.word[:1].isdigit()
        ):
            case = _CASE_WORDS[word]
            return instead(word, case, at=at, words=f"write `{case}` for `{word}`")
    if fault.word in TOKEN_CHOICES["CASE"] and {"COMMA", "_SEP"} & fault.accepted:
        return "put cases in braces, separated by `;`: `{ average 3 ms; largest 5 ms }`"
    if fault.word in (",", ";") and before in TOKEN_CHOICES["CASE"]:
        return f"add the value: `{before} 3 ms`"
    return None
