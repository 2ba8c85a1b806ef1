"""Scenarios and modes in force in an instance (`use "region.qps" as eu with mode = low`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from qps.compiler.check.names.declarations import LoadedModule, chooses
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.syntax import ast

_Chosen = ast.Scenario | ast.Mode


def changes_of(instance: LoadedModule, change: ast.Change, sink: Sink) -> Iterator[ast.Change]:
    """Yield what the scenarios or the mode that a change of an instance chooses set.

    What cannot be chosen or set so is reported. A mode is from then on in force in the instance.
    """
    is_mode = change.name.text == "mode"
    syntax = instance.syntax
    found: Sequence[_Chosen] = syntax.every(ast.Mode if is_mode else ast.Scenario)
    known = {one.name.text: one for one in found}
    if isinstance(change.value, ast.Listed) and not is_mode:
        _report_differences(instance, change.value, known, sink)
        for one in change.value.values:
            yield from changes_of(instance, replace(change, value=one), sink)
        return
    word = change.value.span.text
    if word not in known:
        message = f"`{syntax.source.label}` has no {change.name.text} named `{word}`"
        sink.report(codes.BAD_SETTING, change.value.span, message, hint=offered(word, known))
        return
    chosen = known[word]
    if isinstance(chosen, ast.Mode) and chosen.losses:
        sink.report(
            codes.BAD_SETTING,
            change.value.span,
            f"`{word}` is a failure, which cannot be fixed in an instance",
            secondary=[Label(chosen.span, "declared here")],
            hint="remove the change, or set fewer machines",
        )
        return
    if isinstance(change.value, ast.Reference):
        instance.note(Meaning.CHOSEN, change.value.name)
    if is_mode:
        instance.mode.append(word)
    for own in _flattened(known[word], instance, ()):
        if own.name.text == "case":
            sink.report(
                codes.BAD_SETTING,
                change.span,
                f"`{word}` selects a case, which applies to the whole spec",
                secondary=[Label(own.span, "set here")],
                hint="set it for the spec: `--set case=largest`",
            )
        else:
            yield own


def _report_differences(
    instance: LoadedModule, several: ast.Listed, known: Mapping[str, _Chosen], sink: Sink
) -> None:
    """Report what several scenarios of an instance change to different values."""
    if not several.values:
        message = "this list names no scenario"
        sink.report(codes.BAD_SETTING, several.span, message, hint="name at least one")
    assert instance.used is not None
    decided = {change.name.text for change in instance.used.changes}
    seen: dict[str, tuple[str, ast.Change]] = {}
    for value in several.values:
        word = value.span.text
        if word not in known:
            continue  # it is reported where it is chosen
        own = {one.name.text: one for one in _flattened(known[word], instance, ())}
        for name, change in own.items():
            first, earlier = seen.get(name, (word, change))
            is_same = first == word or _written(earlier.value) == _written(change.value)
            if is_same or name in decided:
                continue
            sink.report(
                codes.BAD_SETTING,
                value.span,
                f"scenarios `{first}` and `{word}` set `{name}` to different values",
                secondary=[
                    Label(earlier.span, f"by `{first}`"),
                    Label(change.span, f"by `{word}`"),
                ],
                hint="remove one of them, or set the value explicitly",
            )
        seen = {name: (word, change) for name, change in own.items()} | seen


def _written(part: ast.Written) -> str:
    return " ".join(part.span.text.split())


def _flattened(
    chosen: _Chosen, module: LoadedModule, around: tuple[str, ...]
) -> Iterator[ast.Change]:
    """Yield what a scenario or a mode changes, first what the scenarios in it do."""
    known = {found.name.text: found for found in module.syntax.every(ast.Scenario)}
    own = [change for change in chosen.changes if not chooses(module, change.name)]
    for change in chosen.changes:
        if chooses(module, change.name) and change.name.text == "scenario":
            for chosen_here in change.chosen:
                inner = known.get(chosen_here.span.text)
                if inner is not None and inner.name.text not in around:
                    yield from _flattened(inner, module, (*around, inner.name.text))
    yield from own
