"""Statements that go wrong: what belongs to a call, a pool, a source, an instance."""

from __future__ import annotations

import re

from qps.compiler.diagnostics.fixits import insertion_before_hint, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.compiler.syntax.faults import CHARACTERS_BEFORE, Fault
from qps.compiler.syntax.queueing_hints import effect_help, queueing_help
from qps.compiler.syntax.think_time_hints import think_help

_MANY_CHARACTERS_BEFORE = 5000


def queueing_in_machine_help(fault: Fault) -> str | None:
    """Know a line of `queueing` that stands in a machine: `machine pc { queueing cpu mmc }`."""
    found = re.search(r"\bqueueing\s+(\w+)\s*$", fault.before[-CHARACTERS_BEFORE:])
    if found is None or fault.word not in DISCIPLINES or not fault.opened:
        return None
    resource, word = found.group(1), fault.word
    return (
        f"write `{resource} …, queueing {word}` in the machine, or `queueing {resource} "
        f"{word}` outside"
    )


def arrivals_help(fault: Fault) -> str | None:
    """Where it is said how items arrive or wait, or an effect stands in a stream."""
    before, previous = fault.before, fault.previous.lstrip("{;\n ")
    return queueing_help(before[-CHARACTERS_BEFORE:], fault.word, fault.behind) or effect_help(
        before, fault.word, previous
    )


def priority_help(fault: Fault) -> str | None:
    """Where a priority stands at the wrong place."""
    if fault.word != "priority" and not re.search(r"\belastic\s+priority$", fault.before):
        return None
    if re.search(r"\belastic\b", fault.before):
        return "put the priority right after the range: `elastic 1..20 packet/s priority 1`"
    return (
        "for an elastic parameter, write `param x elastic 1..20 packet/s priority 1`; for "
        "a stream, `priority 1` on a separate line"
    )


_MEMBERS = "write `users` for its members"
_GROUP = r"group\s+\w+\s+of\s+[\d_]+\s+([^\W\d]\w*)"


def misnamed_members(statement: str, end: Span) -> str | None:
    """Where a group ends with a word that reads as a unit: `group room of 8 participants`."""
    found = re.fullmatch(_GROUP, statement.strip())
    if found is None:
        return None
    word = Span(end.source, end.end - len(found[1]), end.end)
    return instead(found[1], "users", at=word, words=_MEMBERS)


def group_help(fault: Fault) -> str | None:
    """Where those to whom something is sent lack their group, or a group has other members."""
    if fault.word.isidentifier() and re.match(r"group\s+\w+\s+of\b", fault.before):
        return instead(fault.word, "users", at=fault.span, words=_MEMBERS)
    if fault.word == "at" and re.search(r"\bto\s+others$", fault.before):
        return "name the group of the others: `to others in room at most 4`"
    if fault.word == "at" and re.search(r"\bto\s+all\s+in\s+\w+$", fault.before):
        return "use `at most` with others: `to others in room at most 4`"
    is_call = re.search(r"\bcall\s+[\d_]+$", fault.before) and fault.word.isidentifier()
    if "OTHERS" in fault.accepted and not {"ALL", "LBRACE"} & fault.accepted and not is_call:
        return "put the number before `others`: `to 2 others`"
    return None


def changed_machine_help(fault: Fault) -> str | None:
    """Where a node changes its machine: `node web = server with cpu 8 core`."""
    found = re.search(r"\bnode\s+(\w+)\s*=\s*(?:\w+\s*\*\s*)?(\w+)$", fault.before)
    if fault.word != "with" or found is None:
        return None
    node, machine = found.groups()
    return (
        f"declare the changed machine first: `machine {node}_{machine} = {machine} with …`, "
        f"and then `node {node} = {node}_{machine}`"
    )


def pool_help(fault: Fault) -> str | None:
    """Where the amount of a pool stands before its name, or a condition where it is given back."""
    if fault.word == "if" and re.search(r"\bgive\s+[\w.]+$", fault.before):
        return "remove the condition: `give` returns only what was taken"
    amount = re.match(r"[ \t]*([\w.]*)[ \t]+of[ \t]+([\w.]+)", fault.behind)
    if not re.search(r"\b(take|give)$", fault.before) or not fault.word[:1].isdigit():
        return None
    unit, pool = amount.groups() if amount else ("MB", "memory")
    hint = f"put the pool first: `take {pool} {fault.word} {unit}`"
    if amount is None:
        return hint
    whole = Span(fault.span.source, fault.span.start, fault.span.end + amount.end())
    return instead(whole.text, f"{pool} {fault.word} {unit}", at=whole, words=hint)


def call_help(fault: Fault) -> str | None:
    """Where a call goes wrong: it stands in a component, names no node, says nothing of it."""
    node = re.search(r"\bcall\s+(\w+)$", fault.before)
    at_once = re.search(r"\bcall\s+([\d_]+)$", fault.before)
    if at_once and fault.word.isidentifier():
        return (
            f"for {at_once[1]} parallel calls, write "
            f"`together {at_once[1]} {{ call {fault.word} {{ … }} }}`"
        )
    if re.search(r"\btogether\b[^{};\n]*$", fault.before) and fault.word not in "{;}":
        return "write `together 100 { … }`, or `together 100, first 90 answers { … }`"
    if fault.before.startswith("component") and node:
        return (
            f"put calls into a stream, not a component: `at node {{ …; call {node[1]} {{ … }} }}`"
        )
    if re.search(r"\bcall$", fault.before) and fault.word == "{":
        return "name the node that is called: `call db { … }`"
    if node and node[1] in ("at", "to"):
        hint = f"name only the node: `call {fault.word} {{ … }}`"
        at = fault.before_it(node[1]).to(fault.span)
        return instead(at.text, fault.word, at=at, words=hint)
    if fault.word in ("sends", "returns") and "COMMA" in fault.accepted:
        return fault.after_a_comma
    if node and (fault.word in "};" or "\n" in fault.word):
        return f"add the steps of the call: `call {node[1]} {{ … }}`"
    return None


def condition_help(fault: Fault) -> str | None:
    """Where the condition of a visit or of a whole stream stands behind it."""
    if fault.word != "if" or not fault.before.endswith("}"):
        return None
    block, depth = len(fault.before) - 1, 1
    while depth and block > max(0, len(fault.before) - _MANY_CHARACTERS_BEFORE):
        block -= 1
        depth += {"}": 1, "{": -1}.get(fault.before[block], 0)
    head = re.search(r"\b(stream|at|call)\s+([\w.]+)[^{};\n]*$", fault.before[:block])
    if head is None:
        return "put the condition before the `{`"
    return f"put the condition before the `{{`: `{head[1]} {head[2]} if … {{ … }}`"


_STARTS = r"[{;:\n]\s*"


def chance_help(fault: Fault) -> str | None:
    """Where a step that depends on an event starts with `if`, or an event stands at a node.

    Or where a chance is a quotient without parentheses: `1/150: gc`, `1 in 150: gc`.
    """
    quotient = re.match(r"\s*([\d_]+)\s*:", fault.behind)
    of = re.search(r"(?:^|[;{\n])\s*([\d_]+)$", fault.before[-CHARACTERS_BEFORE:])
    if fault.word in ("/", "in") and quotient and of:
        return f"write it in parentheses, or as a percentage: `({of[1]}/{quotient[1]}): …`"
    if not fault.before.startswith("stream") or not fault.word.isidentifier():
        return None
    before, word = fault.before[-CHARACTERS_BEFORE:], fault.word
    if re.search(rf"{_STARTS}if$", before):
        return (
            f"for an event, write `{word}: …` and `not {word}: …`; a condition stands behind its "
            "step: `step if …`"
        )
    if re.search(rf"{_STARTS}event$", before):
        return f"put the event before `at`, into the stream: `event {word} = …`"
    return None


_CITED = r"\bsource\s+\"[^\"\n]*\"\s*$"


def source_help(fault: Fault) -> str | None:
    """Where a citation goes wrong: it stands last, behind what it is cited for."""
    if fault.word == "," and re.match(r"\s*source\b", fault.behind):
        return instead(",", "", at=fault.span, words="remove the comma before `source`")
    if fault.word == "source" and {"TO", "IF"} <= fault.accepted:
        return "put the source at the number: in the component, or in a `let`"
    if fault.word.startswith('"') and re.search(r"\btraffic\s+source$", fault.before):
        return 'put the traffic first: `traffic 30 frame/s source "…"`'
    if fault.word not in (",", "}", "\n") and re.search(_CITED, fault.before[-CHARACTERS_BEFORE:]):
        return "put the source last"
    return None


def target_help(fault: Fault) -> str | None:
    """Where a target does not say of what."""
    if re.search(r"(?:^|\n)target(?:\s[^\n]*,)?$", fault.before) and "LINKS" in fault.accepted:
        return "name the resources: `target cpu 75 %, link 80 %`"
    return None


def use_help(fault: Fault) -> str | None:
    """Where an instance goes wrong: `use "region.qps" as eu { … }`."""
    used = re.match(r"use\s+(\"[^\"\n]*\"|[\w.]+)\s*(?:as\s+(\w+)\s*)?", fault.before)
    if used is None:
        return None
    file, name = used[1], used[2] or "name"
    if used.end() < len(fault.before):  # behind `with`
        hint = "put a comma between the settings"
        if fault.word == "and":
            return instead(fault.with_blanks.text, ", ", at=fault.with_blanks, words=hint)
        return hint if fault.word == "=" else None
    if fault.word.isidentifier() and "AS" in fault.accepted and fault.word != "for":
        hint = f"write `as` before its name: `use {file} as {shortened(fault.word)}`"
        return insertion_before_hint(fault.span, " as", hint)
    if fault.word == "," and used[2]:
        return f"write one `use {file} as {name}` per instance"
    if fault.word in ("{", "(", ":", ",", "for") and "WITH" in fault.accepted:
        return f"put settings after `with`: `use {file} as {name} with population = …`"
    return None


_MEMBER = r"(machine|network|component)\s+(\w+)(?:\([^)]*\))?\s*=\s*([\w.]+)"


def member_help(fault: Fault) -> str | None:
    """Where a member of a family goes wrong: `machine big = pod { … }`."""
    member = re.match(_MEMBER, fault.before)
    if member is None:
        return None
    kind, name, parent = member.groups()
    if parent == "with":
        return f"name the base first: `{kind} {name} = … with …`"
    if fault.word in ("{", ",", ":") and member.end() == len(fault.before):
        hint = f"put the differences after `with`: `{kind} {name} = {parent} with …`"
        return (
            hint if fault.word == "{" else instead(fault.word, " with", at=fault.span, words=hint)
        )
    if "COMMA" in fault.accepted and fault.word.isidentifier() and not fault.opened:
        return fault.after_a_comma
    return None


def list_help(fault: Fault) -> str | None:
    """Where several nodes, or the nodes that a link joins, go wrong."""
    if re.search(r"\b(?:node|link)\s[\w\s,]*$", fault.before) and fault.word.isidentifier():
        return fault.after_a_comma if "EQUAL" in fault.accepted else None
    if "BUT" not in fault.accepted or not fault.before.endswith("all"):
        return None
    if fault.word in ("except", "without", "not"):
        hint = "write `but`: `between all but client`"
        return instead(fault.word, "but", at=fault.span, words=hint)
    is_more = fault.word == ","
    return "put `all` last: `between core, all`" if is_more else None


def run_help(fault: Fault) -> str | None:
    """Where a component that runs in another one goes wrong."""
    if fault.word == "{" and re.search(r"\brun\s*$", fault.before):
        return "write one `run` per component: `run parse; run query`"
    runs = re.search(r"\brun\s+([\w.]+)(?:\([^()]*\))?\s*$", fault.before[-CHARACTERS_BEFORE:])
    if runs is None or "IF" not in fault.accepted:
        return None
    if fault.word[:1].isdigit():
        hint = f"put the repetition after `*`: `run {runs[1]} * {shortened(fault.word)}`"
        return insertion_before_hint(fault.span, " *", hint)
    if fault.word in ("to", "in"):
        return f"put the receivers into the stream: `at node {{ {runs[1]} {fault.word} … }}`"
    return None


def size_in_help(fault: Fault) -> str | None:
    """Where `in` stands before a size of traffic, as the first edition had it."""
    if fault.word != "in" or not re.search(
        r"\btraffic\s[^;{}\n]*$", fault.before[-CHARACTERS_BEFORE:]
    ):
        return None
    hint = "put a comma before the size: `traffic 8000 byte/s, 1280 byte/packet`"
    return instead(fault.with_blanks.text, ",", at=fault.with_blanks, words=hint)


def think_time_help(fault: Fault) -> str | None:
    """Where the time that users think goes wrong."""
    return think_help(fault.before[-CHARACTERS_BEFORE:], fault.word, fault.behind)
