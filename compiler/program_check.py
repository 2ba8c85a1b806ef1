"""From the text of a spec, or of a setting, to what is checked of it.

Specs that come from the cache need none of this: it is imported where a text is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.checker import check_model
from qps.compiler.check.claims.check_axes import check_ranges
from qps.compiler.check.model.changes.check_changes import change_checker
from qps.compiler.check.model.check_unused import report_unloaded
from qps.compiler.check.model.dangling_references import without_dangling
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.resolve import resolve
from qps.compiler.check.values.context import Context, KnownDeclarations
from qps.compiler.check.values.values import Value
from qps.compiler.configure.cases import varies_by_case
from qps.compiler.configure.claimed_values import check_claimed_values, claimed_changes
from qps.compiler.configure.configuration import base_configuration, changed
from qps.compiler.configure.placement import Placement
from qps.compiler.configure.spreads import check_spreads
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Outcome, Sink, in_order
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.project.exceptions import without_allowed
from qps.compiler.project.project_file import Project
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse, parse_change

if TYPE_CHECKING:
    from qps.compiler.syntax.parse_cache import ParseCache


class Findings(Struct, kw_only=True):
    """What a check leaves to a caller that requests more than its outcome, however that is.

    These are the program, what names were taken for, what expressions came to, and the model of
    what is sound, once there is one: after more than 200 mistakes there is none. `parse_cache` has
    the parts of the text that were read before. `errors_first` is called with the errors of
    what is declared, if there are any, before it is looked at what takes longer: the values in each
    configuration.
    """

    noted: Noted[LoadedModule] = field(default_factory=Noted)
    values_by_place: dict[Span, dict[str, Value]] = field(default_factory=dict)
    model: ir.Model | None = None
    program: Program | None = None
    parse_cache: ParseCache | None = None
    errors_first: Callable[[Sequence[Diagnostic]], None] | None = None


class CheckedProgram(Struct, frozen=True, kw_only=True):
    """A program, its model, and the facts about its declarations."""

    program: Program
    model: ir.Model
    known: KnownDeclarations


def check_program(
    source: Source,
    importer: Importer,
    project: Project | None,
    earlier: list[Diagnostic],
    findings: Findings | None,
) -> Outcome[CheckedProgram]:
    """Check a spec; `earlier` holds what was found before the stage that is at work."""
    parsed = parse(source, None if findings is None else findings.parse_cache)
    assert parsed.value is not None
    earlier += parsed.diagnostics
    program = resolve(parsed.value, importer, None if findings is None else findings.noted)
    assert program.value is not None
    if findings is not None:
        findings.program = program.value
    earlier += program.diagnostics
    sink = Sink(failed_names=set(program.value.failed_names))
    met = None if findings is None else findings.values_by_place
    context = Context(program=program.value, sink=sink, importer=importer, values_by_place=met)
    model = check_model(context)
    if sink.has_errors or any(finding.is_error for finding in earlier):
        model = without_dangling(model)
    if findings is not None:
        findings.model = model
        wrong = [one for one in dict.fromkeys((*earlier, *sink.found)) if one.is_error]
        if wrong and findings.errors_first is not None:
            findings.errors_first(in_order(wrong))
    _check_configurations(model, context.main.names, sink)
    found = in_order(dict.fromkeys((*earlier, *sink.found)))
    read = [module.syntax.source for module in program.value.modules]
    found = in_order(without_allowed(found, source, read, project))
    errors = tuple(diagnostic for diagnostic in found if diagnostic.is_error)
    if errors:
        # What seems unused or unscaled may be so because of an error: first things first.
        return Outcome(None, errors)
    checked = CheckedProgram(program=program.value, model=model, known=context.known)
    return Outcome(checked, found)


def _check_configurations(model: ir.Model, own: Container[str], sink: Sink) -> None:
    """Check a model as it stands, in its scenarios and modes, and as claims change it.

    `own` are the names of its main module.
    """
    base = base_configuration(model)
    placement = model.derived(Placement)
    placement.check(base, sink)
    if not sink.has_errors:
        check_spreads(model, base, sink)
    for scenario in model.scenarios:
        configuration = changed(
            base, [ir.SetScenario(scenario.name, scenario.changes, scenario.span)]
        )
        placement.check(configuration, sink)
    if model.modes:
        placement.check_modes(base, sink)
    for changes in claimed_changes(model):
        placement.check(changed(base, changes), sink)
    if any(varies_by_case(parameter.value) for parameter in model.parameters):
        check_claimed_values(model, sink)
    for matrix in model.matrices:
        check_ranges(matrix, model.parameters, sink)
    if not sink.has_errors:
        report_unloaded(sink, [one for n, one in model.machines.items() if n in own], model)


def check_setting(
    text: str, label: str, program: Program, known: KnownDeclarations, sink: Sink
) -> ir.Change | None:
    """Check a setting (`name=value`), called by its label where it is wrong.

    What it makes, such as a machine, is added to what is known.
    """
    parsed = parse_change(Source(label, text))
    sink.add_all(parsed.diagnostics)
    if parsed.value is None:
        return None
    uncertain = len(known.uncertain)
    context = Context(program=program.for_settings, sink=sink, known=known)
    change = change_checker(context).one(parsed.value, context.main)
    if len(known.uncertain) > uncertain:
        sink.report(
            codes.SPREAD,
            parsed.value.span,
            "an uncertainty must apply to the whole value",
            hint="write one number before `+-`: `reply = 80 kB/request +- 10 %`",
        )
        return None
    return change
