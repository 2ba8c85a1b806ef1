"""What is said of a name that nothing declares, or that is something else than is wanted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from decimal import Decimal

from qps.compiler.check.names.declarations import (
    Declared,
    IndexedDeclaration,
    LoadedModule,
    keyword,
    kind_of,
    lookup,
    names_of,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import Hint, Rewording, instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities import units
from qps.compiler.quantities.calendar_dates import date_of_period, month_of_word
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.compiler.syntax import ast
from qps.grammar.words import CHOICES

_WORD = re.compile(r"\w+")
_SHOWN = 4
_CHARACTERS_BEFORE = 40
_ENDLESS = frozenset({"infinite", "infinity", "inf", "unlimited", "forever", "endless"})
_FIRST = (ast.Edition, ast.Use)
"""What stands above all else that a file declares."""
_INDEXED_KINDS = (
    ast.Machine, ast.Network, ast.Component, ast.Node, ast.Link, ast.Unit, ast.Kinds, ast.Group,
)  # fmt: skip
"""What a message calls by the word that declares it."""


def report_name(
    sink: Sink,
    module: LoadedModule,
    name: ast.Name,
    wanted: str,
    kinds: tuple[type, ...],
    others: Iterable[str] = (),
) -> None:
    """Report a name that is not what is wanted: nothing declares it, or it is something else.

    `kinds` are the declarations that could be named, `others` what else could stand there.
    """
    declared = lookup(module, name)
    candidates = {*names_of(module, kinds), *others}
    offered = did_you_mean(name.text, candidates)
    if declared is not None or name.text in module.imports:
        kind = "a module" if declared is None else kind_of(declared.declaration)
        sink.report(
            codes.WRONG_KIND,
            name.span,
            f"`{name.text}` is {kind}, not a {wanted}",
            secondary=[Label(declared.declaration.name.span, "declared here")] if declared else (),
            hint=one_of(declared)
            or _part_hint(module, name, declared, kinds)
            or offered
            or f"name a {wanted} here" + _such_as(candidates),
        )
        return
    if _is_event(sink, module, name, wanted):
        return
    sink.report(
        codes.UNKNOWN_NAME,
        name.span,
        f"unknown {wanted} `{name.text}`",
        hint=units.ambiguity(name.text)
        or _in_other_words(module, name)
        or offered
        or _how_to_declare(module, name, wanted, kinds),
    )


def _is_event(sink: Sink, module: LoadedModule, name: ast.Name, wanted: str) -> bool:
    """Report a name that is that of an event, which stands before a colon alone."""
    text = name.text
    for stream in module.syntax.every(ast.Stream):
        for item in stream.items:
            if isinstance(item, ast.Event) and item.name.text == text:
                sink.report(
                    codes.EVENT,
                    name.span,
                    f"`{text}` is an event of `{stream.name.text}`, not a "
                    + ("number" if wanted == "name" else wanted),
                    secondary=[Label(item.name.span, "declared here")],
                    hint=f"write `{text}: step` or `not {text}: step` in its stream",
                )
                return True
    return False


def report_population(sink: Sink, span: Span, instance: LoadedModule) -> None:
    """Report that the population of an instance is set, which is a part of that of the spec."""
    users = next(d for d in instance.names.values() if isinstance(d, ast.Users))
    given = instance.arguments[users.name.text].change
    sink.report(
        codes.OTHER_SPEC,
        span,
        f"the population of `{instance.prefix}` is fixed to `{given.value.span.text}`",
        secondary=[Label(given.span, "set here")],
        hint="set the population of this spec, or a `param` that it uses",
    )


def one_of(declared: Declared | None) -> str:
    """Return how to name one of what there is for each of some kinds."""
    family = None if declared is None else declared.declaration
    if not isinstance(family, IndexedDeclaration):
        return ""
    hint = f"name one of them, such as `{family.names[0]}`"
    if len(family.keys[0]) > 1:
        return hint
    return f"{hint}; or declare this for each `{family.kinds}`, too"


def _part_hint(
    module: LoadedModule, name: ast.Name, declared: Declared | None, kinds: tuple[type, ...]
) -> str:
    """Return a hint that names the nodes of a machine, or the links of a network."""
    if declared is None or not isinstance(declared.declaration, ast.Machine | ast.Network):
        return ""
    hardware = declared.declaration
    places = [
        one.name.text
        for one in module.names.values()
        if isinstance(one, ast.Node | ast.Link)
        and isinstance(one, kinds)
        and hardware.name.text in _WORD.findall(one.place.span.text)
    ]
    if not places:
        return ""
    kind = "node" if isinstance(hardware, ast.Machine) else "link"
    shown = ", ".join(f"`{place}`" for place in places[:_SHOWN])
    hint = f"use the {kind} made from it: {shown}"
    return instead(name.text, *places[:_SHOWN], words=hint)


def _such_as(candidates: Collection[str]) -> str:
    return f", such as `{min(candidates)}`" if candidates else ""


def _how_to_declare(
    module: LoadedModule, name: ast.Name, wanted: str, kinds: tuple[type, ...]
) -> str:
    last = name.parts[-1]
    if last in DISCIPLINES:
        return f"put a queueing discipline after its resource: `cpu 4 core, queueing {last}`"
    if last in CHOICES:
        return f"`{last}` is a reserved word; compare an option with it: `… == {last}`"
    if wanted.endswith("unit"):
        if last in ("x", "fold"):
            return "write what is added in percent: `by 400 %` is five times as much"
        known = "`ms`, `byte`, `Mbit`, `packet`, `core`"
        hint = f"declare it with `unit {last}`, or use a known unit such as {known}"
        return hint if len(name.parts) > 1 else _above_all(module.syntax, f"unit {last}", hint)
    if kinds[0] in _INDEXED_KINDS:
        return f"declare it: `{keyword(kinds[0])} {last} …`"
    month = month_of_word(last)
    if month is not None:
        return f"write a month with its year, such as `2027-{month:02d}`"
    before = name.span.source.text[max(0, name.span.start - _CHARACTERS_BEFORE) : name.span.end]
    period = date_of_period(before)
    if period is not None:
        return f"write the month or the day on which it begins: `{period.iso}`"
    if last.lower() in _ENDLESS:
        return "write a number; of retries, at most 100: `retries 100`"
    if not any(isinstance(declared, ast.Users) for declared in module.names.values()):
        users = f"`users {last} in 1..1000`"
        return f"declare it: {users} for the population, or `param {last} = …`"
    return f"declare it: `param {last} = …`"


_THOUSANDS = {"k": 3, "K": 3, "thousand": 3, "M": 6, "mio": 6, "million": 6}
_NUMBER_BEFORE = re.compile(r"(\d+(?:\.\d+)?)[ \t]*$")


def _in_other_words(module: LoadedModule, name: ast.Name) -> str:
    """Return a hint for what is right elsewhere: `500k`, `for each shopper`."""
    text, start, last = name.span.source.text, name.span.start, name.parts[-1]
    before = text[max(0, start - _CHARACTERS_BEFORE) : start]
    number = _NUMBER_BEFORE.search(before) if last in _THOUSANDS else None
    if number is not None:
        written = f"{int(Decimal(number[1]) * 10 ** _THOUSANDS[last]):_}"
        whole = Span(name.span.source, start - len(number[0]), name.span.end)
        return instead(whole.text, written, at=whole)
    users = [d.name.text for d in module.names.values() if isinstance(d, ast.Users)]
    if before.rstrip().endswith("for each") and f"{last}s" in users:
        hint = "write `user`, for any name of the population"
        return instead(last, "user", at=name.span, words=hint)
    owner = module.names.get(name.parts[0])
    if len(name.parts) > 1 and isinstance(owner, ast.Component):
        return (
            "a service demand has no name outside its component: declare `param each = 8 "
            f"ms/request`, and use it in `{name.parts[0]}` and here"
        )
    return ""


def _above_all(syntax: ast.Module, line: str, text: str) -> Hint:
    """Return a hint to declare something, by a line before the first that is no `use`."""
    held = next((one for one in syntax.declarations if not isinstance(one, _FIRST)), None)
    if held is None:
        return Hint(text)
    start = syntax.source.text.rfind("\n", 0, held.span.start) + 1
    return Hint(text, Rewording("", f"{line}\n", Span(syntax.source, start, start)))
