"""The commonest mistakes of the pen, and how to mend each.

Each function of `_MISTAKES` knows one kind; the first that recognises what it sees gives the hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import category

from msgspec import Struct

from qps.compiler.diagnostics.mends import Hint, instead, put_before
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import closest, shortened
from qps.compiler.quantities.units import built_in
from qps.compiler.syntax.queueing_mistakes import DISCIPLINES, effect_mended, waiting_mended
from qps.compiler.syntax.think_mistakes import think_mended
from qps.grammar.keywords import keywords
from qps.grammar.words import DECLARATIONS, TOKEN_CHOICES, TOKEN_WORDS, in_words

LOOKED_BACK = 200
RANGE_HINT = "write a range as `2..200`"
_SURE = 0.74
_LOOKED_AHEAD = 60
_LOOKED_BACK_FAR = 5000


class Fault(Struct, frozen=True):
    """A word that cannot stand where it stands."""

    span: Span
    before: str  # the text of the declaration up to the word
    accepted: frozenset[str]
    opened: str  # the innermost bracket that is open, empty where none is

    @property
    def word(self) -> str:
        """The word itself."""
        return self.span.text

    @property
    def behind(self) -> str:
        """The text behind the word."""
        text = self.span.source.text
        return text[self.span.end : self.span.end + _LOOKED_AHEAD]

    @property
    def previous(self) -> str:
        """The word before this one, with the sign in front of it: `; merg`."""
        found = re.search(r"(?:[{;\n]\s*)?\w+\s*$", self.before[-LOOKED_BACK:])
        return found.group().strip() if found else ""

    def before_it(self, word: str) -> Span:
        """Return where a word stands that is the last one before this."""
        end = len(self.span.source.text[: self.span.start].rstrip())
        return Span(self.span.source, end - len(word), end)

    @property
    def with_blanks(self) -> Span:
        """Where the word stands, with the blanks around it."""
        text, span = self.span.source.text, self.span
        start = len(text[: span.start].rstrip(" \t"))
        rest = text[span.end : span.end + _LOOKED_AHEAD]
        return Span(span.source, start, span.end + len(rest) - len(rest.lstrip(" \t")))

    @property
    def after_a_comma(self) -> Hint:
        """The hint to put a comma before this word."""
        return put_before(self.span, ",", "put a comma before it")


def how_to_mend(fault: Fault) -> str | None:
    """Return what to write instead, as far as that can be told."""
    return next(filter(None, (mistake(fault) for mistake in _MISTAKES)), None)


# -- words of other languages, and where a word belongs ----------------------------------

_NESTED = {
    **dict.fromkeys(("node", "link"), "nodes and links stand in `topology { … }`"),
    **dict.fromkeys(("source", "at", "over"), "it is a part of a stream: `stream name { … }`"),
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
    "let": "write `param`, or `let` for what is computed",
    "shared": "a link that takes turns is `shared`",
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


def _first_word(fault: Fault) -> str | None:
    if fault.opened or fault.before:
        return None
    if fault.word.startswith('"'):
        doc = f'""{fault.word}""'
        return instead(fault.word, doc, at=fault.span, told='a doc string stands between `"""`')
    if not fault.word.isidentifier():
        return None
    near = closest(fault.word, DECLARATIONS)
    if fault.word in _NESTED:
        return _NESTED[fault.word]
    if fault.word in _FIRST_WORDS:
        others = _FIRST_WORDS[fault.word]
        return instead(fault.word, *others, at=fault.span, told=_SAID.get(others[-1], ""))
    if near is not None:
        return _meant(fault, near)
    return "a declaration starts with a word such as `param`, `component` or `stream`"


def _waiting(fault: Fault) -> str | None:
    """Know a line of `queueing` that stands in a machine: `machine pc { queueing cpu mmc }`."""
    found = re.search(r"\bqueueing\s+(\w+)\s*$", fault.before[-LOOKED_BACK:])
    if found is None or fault.word not in DISCIPLINES or not fault.opened:
        return None
    resource, word = found.group(1), fault.word
    return (
        f"it stands behind the resource: `{resource} …, queueing {word}`; or on a line of its own, "
        f"outside: `queueing {resource} {word}`"
    )


def _arriving(fault: Fault) -> str | None:
    before, previous = fault.before, fault.previous.lstrip("{;\n ")
    return waiting_mended(before[-LOOKED_BACK:], fault.word, fault.behind) or effect_mended(
        before, fault.word, previous
    )


def _misspelt(fault: Fault) -> str | None:
    if not fault.word.isidentifier() or fault.word in keywords():
        return None
    words = [t.strip("_") for t in fault.accepted if t not in TOKEN_WORDS]
    possible = [t.lower() for t in words if t.isalpha()]
    possible += [word for token in fault.accepted for word in TOKEN_CHOICES.get(token, ())]
    near = closest(fault.word, possible)
    return _meant(fault, near) if near else None


def _meant(fault: Fault, near: str) -> Hint:
    return instead(fault.word, near, at=fault.span, told=f"did you mean `{near}`?")


def _misspelt_before(fault: Fault) -> str | None:
    starts_statement = fault.previous[:1] in "{;" or "\n" in fault.previous
    word = fault.previous.lstrip("{;\n ")
    if not word or word in keywords() or not starts_statement:
        return None
    if re.search(rf"\bcomponent\s+{word}\b", fault.span.source.text):
        return None  # a step, and no mistake
    near = closest(word, _STATEMENTS, _SURE)
    if near is None or near == word:
        return None
    told = f"did you mean `{near}` instead of `{word}`?"
    return instead(word, near, at=fault.before_it(word), told=told)


def _foreign(fault: Fault) -> str | None:
    if fault.word == "and" and "COMMA" in fault.accepted:
        return "separate them with commas"
    if "LINK_PROPERTY" in fault.accepted and fault.word in _NETWORK_WORDS:
        other = _NETWORK_WORDS[fault.word]
        return instead(fault.word, other, at=fault.span, told=_SAID.get(other, ""))
    before = fault.previous.lstrip("{;\n ")
    for word, at in ((fault.word, fault.span), (before, fault.before_it(before))):
        if word in _FOREIGN and word not in keywords():
            return instead(word, _FOREIGN[word], at=at, told=_SAID.get(word, ""))
    return None


_CASE_WORDS = {
    **dict.fromkeys(("mean", "avg", "typical", "usual"), "average"),
    **dict.fromkeys(("minimum", "min", "smallest", "lowest", "best"), "least"),
    **dict.fromkeys(("maximum", "max", "greatest", "highest", "peak", "worst"), "largest"),
}


def _case(fault: Fault) -> str | None:
    """Where the value of a case goes wrong: another word for it, no comma, no value."""
    before = fault.previous.lstrip("{;\n ")
    for word, at in ((fault.word, fault.span), (before, fault.before_it(before))):
        if word in _CASE_WORDS and (
            {"CASE", "BARE_CASE"} & fault.accepted or fault.word[:1].isdigit()
        ):
            case = _CASE_WORDS[word]
            return instead(word, case, at=at, told=f"write `{case}` for `{word}`")
    if fault.word in TOKEN_CHOICES["CASE"] and {"COMMA", "_SEP"} & fault.accepted:
        return "cases stand in braces, one behind `;`: `{ average 3 ms; largest 5 ms }`"
    if fault.word in (",", ";") and before in TOKEN_CHOICES["CASE"]:
        return f"say what it is: `{before} 3 ms`"
    return None


def _priority(fault: Fault) -> str | None:
    if fault.word != "priority" and not re.search(r"\belastic\s+priority$", fault.before):
        return None
    if re.search(r"\belastic\b", fault.before):
        return "the priority stands right behind the range: `elastic 1..20 packet/s priority 1`"
    return (
        "what is elastic has a priority, `param x elastic 1..20 packet/s priority 1`, and a stream "
        "on a line of its own: `priority 1`"
    )


def _group(fault: Fault) -> str | None:
    if fault.word == "at" and re.search(r"\bto\s+others$", fault.before):
        return "name the group of the others: `to others in room at most 4`"
    if fault.word == "at" and re.search(r"\bto\s+all\s+in\s+\w+$", fault.before):
        return "only of the others some can be chosen: `to others in room at most 4`"
    if "OTHERS" in fault.accepted and not {"ALL", "LBRACE"} & fault.accepted:
        return "a number says how many of the others at this node: `to 2 others`"
    return None


def _pool(fault: Fault) -> str | None:
    """Where the amount of a pool stands before its name, or a condition where it is given back."""
    if fault.word == "if" and re.search(r"\bgive\s+[\w.]+$", fault.before):
        return "`give` has no condition: what was not taken under one is not given back either"
    amount = re.match(r"[ \t]*([\w.]*)[ \t]+of[ \t]+([\w.]+)", fault.behind)
    if not re.search(r"\b(take|give)$", fault.before) or not fault.word[:1].isdigit():
        return None
    unit, pool = amount.groups() if amount else ("MB", "memory")
    told = f"the pool comes first: `take {pool} {fault.word} {unit}`"
    if amount is None:
        return told
    whole = Span(fault.span.source, fault.span.start, fault.span.end + amount.end())
    return instead(whole.text, f"{pool} {fault.word} {unit}", at=whole, told=told)


def _call(fault: Fault) -> str | None:
    """Where a call goes wrong: it stands in a component, names no node, says nothing of it."""
    node = re.search(r"\bcall\s+(\w+)$", fault.before)
    if fault.before.startswith("component") and node:
        return (
            "a component is work at one node; calls stand where it is used: "
            f"`at node {{ …; call {node[1]} {{ … }} }}`"
        )
    if re.search(r"\bcall$", fault.before) and fault.word == "{":
        return "name the node that is called: `call db { … }`"
    if node and node[1] in ("at", "to"):
        told = f"name the node alone: `call {fault.word} {{ … }}`"
        at = fault.before_it(node[1]).to(fault.span)
        return instead(at.text, fault.word, at=at, told=told)
    if fault.word in ("sends", "returns") and "COMMA" in fault.accepted:
        return fault.after_a_comma
    if node and (fault.word in "};" or "\n" in fault.word):
        return f"say what is done there: `call {node[1]} {{ … }}`"
    return None


def _condition(fault: Fault) -> str | None:
    """Where the condition of a visit or of a whole stream stands behind it."""
    if fault.word != "if" or not fault.before.endswith("}"):
        return None
    block, depth = len(fault.before) - 1, 1
    while depth and block > max(0, len(fault.before) - _LOOKED_BACK_FAR):
        block -= 1
        depth += {"}": 1, "{": -1}.get(fault.before[block], 0)
    head = re.search(r"\b(stream|at|call)\s+([\w.]+)[^{};\n]*$", fault.before[:block])
    if head is None:
        return "a condition stands before the `{`"
    return f"the condition stands before the `{{`: `{head[1]} {head[2]} if … {{ … }}`"


_CITED = re.compile(r"\bsource\s+\"[^\"\n]*\"\s*$")


def _source(fault: Fault) -> str | None:
    """Where a citation goes wrong: it stands last, behind what it is cited for."""
    if fault.word == "," and re.match(r"\s*source\b", fault.behind):
        return instead(",", "", at=fault.span, told="no comma stands before `source`: take it out")
    if fault.word == "source" and {"TO", "IF"} <= fault.accepted:
        return "cite it where the number stands: in the component, or in a `let` that it names"
    if fault.word.startswith('"') and re.search(r"\btraffic\s+source$", fault.before):
        return 'the traffic stands first: `traffic 30 frame/s source "…"`'
    if fault.word not in (",", "}", "\n") and _CITED.search(fault.before[-LOOKED_BACK:]):
        return "a source stands last, behind all that it is cited for"
    return None


def _target(fault: Fault) -> str | None:
    if re.search(r"(?:^|\n)target(?:\s[^\n]*,)?$", fault.before) and "LINKS" in fault.accepted:
        return "say what it is the target of: `target cpu 75 %, link 80 %`"
    return None


def _use(fault: Fault) -> str | None:
    """Where an instance goes wrong: `use "region.qps" as eu { … }`."""
    used = re.match(r"use\s+(\"[^\"\n]*\"|[\w.]+)\s*(?:as\s+(\w+)\s*)?", fault.before)
    if used is None:
        return None
    file, name = used[1], used[2] or "name"
    if used.end() < len(fault.before):  # behind `with`
        told = "put a comma between what it is told"
        if fault.word == "and":
            return instead(fault.with_blanks.text, ", ", at=fault.with_blanks, told=told)
        return told if fault.word == "=" else None
    if fault.word.isidentifier() and "AS" in fault.accepted and fault.word != "for":
        told = f"write `as` before its name: `use {file} as {shortened(fault.word)}`"
        return put_before(fault.span, " as", told)
    if fault.word == "," and used[2]:
        return f"each name is an instance of its own: `use {file} as {name}` once more"
    if fault.word in ("{", "(", ":", ",", "for") and "WITH" in fault.accepted:
        return f"what it is told stands behind `with`: `use {file} as {name} with population = …`"
    return None


_MEMBER = re.compile(r"(machine|network|component)\s+(\w+)(?:\([^)]*\))?\s*=\s*([\w.]+)")


def _member(fault: Fault) -> str | None:
    """Where a member of a family goes wrong: `machine big = pod { … }`."""
    member = _MEMBER.match(fault.before)
    if member is None:
        return None
    kind, name, parent = member.groups()
    if parent == "with":
        return f"name first what it is otherwise: `{kind} {name} = … with …`"
    if fault.word in ("{", ",", ":") and member.end() == len(fault.before):
        told = f"what differs stands behind `with`: `{kind} {name} = {parent} with …`"
        return told if fault.word == "{" else instead(fault.word, " with", at=fault.span, told=told)
    if "COMMA" in fault.accepted and fault.word.isidentifier() and not fault.opened:
        return fault.after_a_comma
    return None


def _listed(fault: Fault) -> str | None:
    """Where several nodes, or the nodes that a link joins, go wrong."""
    if re.search(r"\b(?:node|link)\s[\w\s,]*$", fault.before) and fault.word.isidentifier():
        return fault.after_a_comma if "EQUAL" in fault.accepted else None
    if "BUT" not in fault.accepted or not fault.before.endswith("all"):
        return None
    if fault.word in ("except", "without", "not"):
        told = "write `but`: `between all but client`"
        return instead(fault.word, "but", at=fault.span, told=told)
    is_more = fault.word == ","
    return "what else a link joins stands before: `between core, all`" if is_more else None


def _run(fault: Fault) -> str | None:
    """Where a component that runs in another one goes wrong."""
    if fault.word == "{" and re.search(r"\brun\s*$", fault.before):
        return "name what runs, each by itself: `run parse; run query`"
    runs = re.search(r"\brun\s+([\w.]+)(?:\([^()]*\))?\s*$", fault.before[-LOOKED_BACK:])
    if runs is None or "IF" not in fault.accepted:
        return None
    if fault.word[:1].isdigit():
        told = f"say how often behind `*`: `run {runs[1]} * {shortened(fault.word)}`"
        return put_before(fault.span, " *", told)
    if fault.word in ("to", "in"):
        return f"a stream says to whom it goes on: `at node {{ {runs[1]} {fault.word} … }}`"
    return None


def _size_in(fault: Fault) -> str | None:
    """Where `in` stands before a size of traffic, as the first edition had it."""
    if fault.word != "in" or not re.search(r"\btraffic\s[^;{}\n]*$", fault.before[-LOOKED_BACK:]):
        return None
    told = "a size stands behind a comma: `traffic 8000 byte/s, 1280 byte/packet`"
    return instead(fault.with_blanks.text, ",", at=fault.with_blanks, told=told)


def _think(fault: Fault) -> str | None:
    return think_mended(fault.before[-LOOKED_BACK:], fault.word, fault.behind)


def _comma(fault: Fault) -> str | None:
    if fault.word != ",":
        return None
    digits = re.search(r"\d[\d_]*$", fault.before)
    rest = re.match(r"\d{3}\b", fault.behind)
    if digits and rest:
        told = f"write digits without commas: `{digits.group()}_{rest.group()}`"
        return instead(",", "_", at=fault.span, told=told)
    if digits and fault.behind[:1].isdigit():
        return instead(",", ".", at=fault.span, told="write the decimal point as `.`")
    if "EQUAL" in fault.accepted:
        return "declare each by itself"
    if "_SEP" in fault.accepted and fault.opened:
        told = "statements end with `;` or a new line, not with a comma"
        return instead(",", ";", at=fault.span, told=told)
    return None


_ENDS = re.compile(r"\s*([\d_.]+)\s*(?:,|\.\.)\s*([\d_.]+(?: *[\w/]+)?)\s*\]")


def _bracket(fault: Fault) -> str | None:
    if fault.word == "[" and re.search(r"\bscenario\s+in\s+\[[^\]]*$", fault.before):
        return "make one of them, `scenario both { scenario = [one, other] }`, and list that"
    if fault.word in "[]":
        told = "write a range as `2..200`, choices as `a or b`"
        ends = _ENDS.match(fault.behind) if fault.word == "[" else None
        if ends is None:
            return told
        whole = Span(fault.span.source, fault.span.start, fault.span.end + ends.end())
        return instead(whole.text, f"{ends[1]}..{ends[2]}", at=whole, told=told)
    if fault.word in "})" and not fault.opened:
        told = f"nothing is open here that `{fault.word}` could close: take it out"
        return instead(fault.word, "", at=fault.span, told=told)
    if fault.word == ")" and fault.opened != "(":
        return "no `(` is open here: take it out, or add the `(`"
    if fault.word == ")" and fault.before.endswith("("):
        return "put the arguments between the brackets"
    return None


def _equals(fault: Fault) -> str | None:
    if fault.word not in ("=", ":"):
        return None
    if fault.before[-1:] in ("<", ">", "=", "!"):
        both = fault.before_it(fault.before[-1]).to(fault.span)
        told = f"write `{fault.before[-1]}=` without a blank"
        if fault.before[-1] == "=":
            return told  # a second one by mistake, as likely
        return instead(both.text, f"{fault.before[-1]}=", at=both, told=told)
    if fault.behind[:1] in ("<", ">"):
        both = Span(fault.span.source, fault.span.start, fault.span.end + 1)
        return instead(both.text, f"{fault.behind[0]}=", at=both)
    if re.search(r"[{;\n]\s*\w+$", fault.before[-LOOKED_BACK:]) and "NUMBER" in fault.accepted:
        told = f"the value stands right behind the word, without `{fault.word}`"
        return instead(fault.with_blanks.text, " ", at=fault.with_blanks, told=told)
    if "COMPARE" in fault.accepted:
        told = "compare with `==`, `<=` or `>=`; `=` only gives a name its value"
        return instead(fault.word, "==", "<=", ">=", at=fault.span, told=told)
    return None


def _no_equals(fault: Fault) -> str | None:
    """Where the value of a name stands right behind it: `param k 12`."""
    if "EQUAL" not in fault.accepted or not fault.word[:1].isdigit():
        return None
    told = f"write `=` before it: `{shortened(fault.previous)} = {shortened(fault.word)}`"
    return put_before(fault.span, " =", told)


def _operator(fault: Fault) -> str | None:
    if fault.word == "*" and fault.before.endswith("*"):
        both = fault.before_it("*").to(fault.span)
        return instead(both.text, "^", at=both, told="write powers with `^`")
    if fault.word == "/" and fault.before.endswith("/"):
        both = fault.before_it("/").to(fault.span)
        told = "divide with one `/`; a comment starts with `#`"
        return instead(both.text, "/", "#", at=both, told=told)
    return None


def _number(fault: Fault) -> str | None:
    if fault.word == ".":
        if "RANGE" in fault.accepted or fault.before.endswith(".."):
            return RANGE_HINT
        if fault.before[-1:].isdigit():
            told = f"write a digit behind the point: `{fault.before[-1]}.0`"
            return instead(".", ".0", at=fault.span, told=told)
        told = "write a digit before the point: `0.5`"
        is_fraction = fault.behind[:1].isdigit()
        return instead(".", "0.", at=fault.span, told=told) if is_fraction else None
    if any(category(character) == "No" for character in fault.previous):
        return "write powers as `x^2` and fractions as `0.5`"
    if not re.fullmatch(r"\d.*", fault.word):
        return None
    if fault.before[-1:].isdigit():
        told = "write digits together, or with `_` between: `800_000`"
        at = fault.span.source.text[: fault.span.start].rstrip()
        blanks = Span(fault.span.source, len(at), fault.span.start)
        return instead(blanks.text, "_", at=blanks, told=told)
    if fault.before[-1:] in ("%", "$"):
        both = fault.before_it(fault.before[-1]).to(fault.span)
        told = f"the unit stands behind the number: `{shortened(fault.word)} {fault.before[-1]}`"
        return instead(both.text, f"{fault.word} {fault.before[-1]}", at=both, told=told)
    return None


def _unit(fault: Fault) -> str | None:
    """Where a unit stands behind a name or a bracket, which may have a unit of its own."""
    if built_in(fault.word) is not None and fault.before[-1:] == "]":
        return f"each number has its unit: `[1 {fault.word}, 2 {fault.word}]`"
    name = re.search(r"[\w.]+$|\)$", fault.before[-LOOKED_BACK:])
    if built_in(fault.word) is None or "PLUS" not in fault.accepted or name is None:
        return None
    if name.group() in keywords() or name.group()[:1].isdigit():
        return None
    left = name.group() if name.group() != ")" else "(…)"
    unit = re.match(r"(?:\s*/\s*\w+)?", fault.behind)
    written = fault.word + (unit.group().replace(" ", "") if unit else "")
    told = f"a unit stands behind a number: `{left} * 1 {written}`, or `{left}` alone if it has one"
    whole = Span(fault.span.source, fault.span.start, fault.span.end + (unit.end() if unit else 0))
    return instead(whole.text, f"* 1 {written}", "", at=whole, told=told)


def _users(fault: Fault) -> str | None:
    """Where the plural of `unit user` ends a statement, as the size of a group does."""
    if fault.word != "users" or not fault.before[-1:].isdigit():
        return None
    return "the unit is `user` here: `users` at the end says how large a group is"


_UNQUOTED = re.compile(r"[^\n;{}#\"]*[^\s;{}#\"]")


def _one_thing(fault: Fault) -> str | None:
    """Where only one thing can stand, say so."""
    accepted = fault.accepted - {"DOT", "CIRCUMFLEX"}
    if not accepted:
        return "take out what stands from here on"
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
        return instead(at.text, f'"{at.text}"', at=at, told='write it in quotes: `"…"`')
    if "RANGE" in accepted:
        is_range = fault.word in ("to", "-", ",", ":") and re.match(r"\s*\d", fault.behind)
        at = fault.with_blanks
        return instead(at.text, "..", at=at, told=RANGE_HINT) if is_range else RANGE_HINT
    if len(accepted) != 1:
        return None
    if fault.word in ("-", ".") and re.match(r"\w", fault.behind):
        told = f"a name has letters, digits and `_`, but no `{fault.word}`"
        return instead(fault.word, "_", at=fault.span, told=told)
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
        told = f"`{word}` is a word of the language and cannot be a name: call it `{word}_`"
        return instead(word, f"{word}_", at=fault.span, told=told)
    if bare.isidentifier():
        return instead(word, bare, at=fault.span, told=f"write it without quotes: `{bare}`")
    if word[:1].isdigit():
        return "a name starts with a letter; digits may follow"
    return "put a name before it"


def _two_statements(fault: Fault) -> str | None:
    if "_SEP" not in fault.accepted:
        return None
    end = "end the statement before it with `;` or a new line"
    if {"PLUS", "COMPARE"} & fault.accepted and fault.word not in keywords():
        return f"put an operator before it, or {end}"
    return end if fault.word[:1].isdigit() else put_before(fault.span, ";", end)


def _anything(fault: Fault) -> str | None:
    if fault.word in keywords() and "NAME" in fault.accepted:
        return f"`{fault.word}` is a word of the language and cannot be a name"
    if fault.word in ("}", ")") or not fault.word.strip(";\n "):
        return "something is missing before it: write what is expected"
    return "take it out, or write what is expected here"


_MISTAKES: tuple[Callable[[Fault], str | None], ...] = (
    _waiting,
    _arriving,
    _first_word,
    _case,
    _misspelt,
    _foreign,
    _misspelt_before,
    _priority,
    _group,
    _pool,
    _call,
    _condition,
    _source,
    _target,
    _use,
    _member,
    _listed,
    _run,
    _size_in,
    _think,
    _comma,
    _bracket,
    _equals,
    _no_equals,
    _operator,
    _number,
    _unit,
    _users,
    _one_thing,
    _two_statements,
    _anything,
)
