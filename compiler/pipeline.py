"""The pipeline, stage by stage: from a path or a text to a checked spec."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.checker import check_model
from qps.compiler.check.claims.check_axes import check_ranges
from qps.compiler.check.model.changes.check_changes import change_checker
from qps.compiler.check.model.changes.check_settings import (
    check_consistent,
    check_one_scenario,
    check_unique_settings,
)
from qps.compiler.check.model.check_unused import report_unloaded
from qps.compiler.check.model.dangling_references import without_dangling
from qps.compiler.check.names.declarations import Module
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.resolve import resolve
from qps.compiler.check.values.context import Context, Known
from qps.compiler.check.values.values import Value
from qps.compiler.configure.cases import varies_by_case
from qps.compiler.configure.claimed_values import check_claimed_values, claimed_changes
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    in_each_mode,
    with_scenarios,
)
from qps.compiler.configure.placement import Placement, check_placement
from qps.compiler.configure.spreads import check_spreads
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import (
    Diagnostic,
    Outcome,
    QpsError,
    Sink,
    TooManyError,
    in_order,
)
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.ir.own_numbers import with_parameters
from qps.compiler.project.exceptions import accepted_in, file_of, without_allowed
from qps.compiler.project.project_file import Acceptance, Project, project_of
from qps.compiler.syntax.importer import Importer, checksum, read_spec
from qps.compiler.syntax.parse import parse, parse_change
from qps.compiler.syntax.parse_cache import ParseCache

Scenarios: TypeAlias = "str | Sequence[str] | None"
"""A scenario, or several that are made together."""


class Spec(Struct, frozen=True, kw_only=True):
    """A checked spec: its model, and the data for applying changes later.

    This data is its `program` and the facts `known` about its declarations. `files` are the files
    of the spec, with checksums; `accepted` are the failures that its project file accepts.
    """

    model: ir.Model
    program: Program
    known: Known
    warnings: tuple[Diagnostic, ...]
    files: Mapping[Path, str] = {}
    accepted: tuple[Acceptance, ...] = ()

    def configuration(
        self, scenario: Scenarios = None, settings: Iterable[str] = ()
    ) -> Configuration:
        """Return the model as a scenario and settings (`name=value`) leave it.

        Several scenarios are made together: what two of them change otherwise is refused, unless a
        setting says what holds.
        QpsError where one of them does not fit the model, or where the file is a module that
        has nothing to solve.
        """
        if self.program.is_module:
            raise QpsError.single(
                codes.MISSING_PART,
                None,
                f"{self.model.file} is a module without a system to solve",
                hint="solve a spec that uses it, or add `users`, a topology and a stream",
            )
        with _refusing("the settings") as sink:
            asked = [scenario] if isinstance(scenario, str) else [*(scenario or ())]
            settled = with_scenarios(self.model, asked, sink)
            changes = self._settings(settings, sink)
            check_one_scenario(asked, changes, sink)
            if not sink.has_errors:
                check_consistent(self.model, asked, changes, sink)
        with _refusing("the settings") as sink:
            settled = changed(settled, changes)
            check_placement(self.model, settled, sink)
            for in_mode in in_each_mode(self.model, settled) if settled.mode is None else ():
                check_placement(self.model, in_mode, sink)
            if not sink.has_errors:
                check_spreads(self.model, settled, sink)
        return settled

    def with_parts_of(self, settings: Iterable[str]) -> Spec:
        """Return the spec with what settings make.

        That is the machine of `web = pod(8, 16 GB)`, and a parameter of each number that they set
        and that is stated in place, such as `wan.rate`.
        What is wrong with a setting is told where a configuration is asked for.
        """
        known, sink = self.known.copied(), Sink()
        for text in settings:
            change = parse_change(Source("--set", text)).value
            if change is not None:
                context = Context(program=self.program.for_settings, sink=sink, known=known)
                change_checker(context).one(change, context.main)
        made = {name: one for name, one in known.machines.items() if one is not None}
        model = self.model
        if not made.keys() <= model.machines.keys():
            model = replace(model, machines=model.machines | made)
        model = with_parameters(model, known.numbers_set, known.numbers)
        return self if model is self.model else replace(self, model=model, known=known)

    def population(self, text: str, label: str) -> int | None:
        """Return the population that a text such as `N = 20` sets; None where it sets none.

        `label` is what the text is called where it is wrong.

        QpsError where the text does not fit the model.
        """
        with _refusing(label) as sink:
            change = self._setting(text, sink, label)
        if not isinstance(change, ir.SetPopulation) or change.low != change.high:
            return None
        return change.low

    def changes(self, settings: Iterable[str]) -> tuple[ir.Change, ...]:
        """Return the changes that settings (`name=value`) make; QpsError where one does not fit."""
        with _refusing("the settings") as sink:
            changes = self._settings(settings, sink)
        return tuple(changes)

    def _settings(self, settings: Iterable[str], sink: Sink) -> list[ir.Change]:
        built = [self._setting(text, sink) for text in settings]
        changes = [change for change in built if change is not None]
        check_unique_settings(changes, sink)
        return changes

    def _setting(self, text: str, sink: Sink, label: str = "--set") -> ir.Change | None:
        parsed = parse_change(Source(label, text))
        sink.add_all(parsed.diagnostics)
        if parsed.value is None:
            return None
        known = self.known.copied()
        context = Context(program=self.program.for_settings, sink=sink, known=known)
        change = change_checker(context).one(parsed.value, context.main)
        if len(context.known.uncertain) > len(self.known.uncertain):
            sink.report(
                codes.SPREAD,
                parsed.value.span,
                "an uncertainty must apply to the whole value",
                hint="write one number before `+-`: `reply = 80 kB/request +- 10 %`",
            )
            return None
        return change


@contextmanager
def _refusing(what: str) -> Iterator[Sink]:
    """Give a sink; QpsError at the end where errors are in it, or more than anybody reads."""
    sink = Sink()
    try:
        yield sink
    except TooManyError as full:
        raise QpsError([*full.found, _too_many(what, full)]) from full
    if sink.has_errors:
        raise QpsError(in_order(dict.fromkeys(sink.found)))


def _too_many(what: str, full: TooManyError) -> Diagnostic:
    """Return what tells that the rest was not looked at."""
    message = f"{what}: {full}; the rest was not checked"
    hint = "fix the first errors; others may disappear"
    return QpsError.single(codes.TOO_MANY, None, message, hint=hint).diagnostics[0]


def check_file(path: Path) -> Outcome[Spec]:
    """Read and check a spec in a file."""
    read = read_spec(path)
    if read.value is None:
        return Outcome(None, read.diagnostics)
    return check_source(read.value)


class Findings(Struct, kw_only=True):
    """What a check leaves to who asks for more than its outcome, however that is.

    These are the program, what names were taken for, what expressions came to, and the model of
    what is sound, once there is one: after more than 200 mistakes there is none. Parts of the text
    that were read before are had from what is `kept`. `errors_first` is called with the errors of
    what is declared, if there are any, before it is looked at what takes longer: the values in each
    configuration.
    """

    noted: Noted[Module] = field(default_factory=Noted)
    met: dict[Span, dict[str, Value]] = field(default_factory=dict)
    model: ir.Model | None = None
    program: Program | None = None
    kept: ParseCache | None = None
    errors_first: Callable[[Sequence[Diagnostic]], None] | None = None


def check_source(
    source: Source, importer: Importer | None = None, findings: Findings | None = None
) -> Outcome[Spec]:
    """Check a spec; it may read files below its own folder, or below that of its project.

    What else is found on the way goes into `findings`, where these are asked for.
    """
    earlier: list[Diagnostic] = []
    project = project_of(source.folder)
    if project.diagnostics:
        return Outcome(None, project.diagnostics)
    reads = importer or _importer(source, project.value)
    try:
        return _check_source(source, reads, project.value, earlier, findings)
    except TooManyError as full:
        found = in_order(dict.fromkeys((*earlier, *full.found)))
        return Outcome(None, (*(f for f in found if f.is_error), _too_many(source.label, full)))


def importer_of(source: Source) -> Importer:
    """Return what reads the files that a spec names, as far as its project lets it."""
    return _importer(source, project_of(source.folder).value)


def _importer(source: Source, project: Project | None) -> Importer:
    if project is None or source.folder is None or not source.folder.is_relative_to(project.root):
        return Importer(root=source.folder)
    of_what = f"the folder of the project ({project.source.label})"
    return Importer(root=project.root, of_what=of_what)


def _check_source(
    source: Source,
    importer: Importer,
    project: Project | None,
    earlier: list[Diagnostic],
    findings: Findings | None,
) -> Outcome[Spec]:
    """Check a spec; `earlier` holds what was found before the stage that is at work."""
    parsed = parse(source, None if findings is None else findings.kept)
    assert parsed.value is not None
    earlier += parsed.diagnostics
    program = resolve(parsed.value, importer, None if findings is None else findings.noted)
    assert program.value is not None
    if findings is not None:
        findings.program = program.value
    earlier += program.diagnostics
    sink = Sink(failed_names=set(program.value.failed_names))
    met = None if findings is None else findings.met
    context = Context(program=program.value, sink=sink, importer=importer, met=met)
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
    spec = Spec(
        model=model,
        program=program.value,
        known=context.known,
        warnings=found,
        files=files_of(source, importer, project),
        accepted=accepted_in(source, project),
    )
    return Outcome(spec, found)


def _check_configurations(model: ir.Model, own: Container[str], sink: Sink) -> None:
    """Check a model as it stands, in its scenarios and modes, and as claims ask for it.

    `own` are the names of its main module.
    """
    base = base_configuration(model)
    placement = model.once(Placement)
    placement.check(base, sink)
    if not sink.has_errors:
        check_spreads(model, base, sink)
    for scenario in model.scenarios:
        settled = changed(base, [ir.SetScenario(scenario.name, scenario.changes, scenario.span)])
        placement.check(settled, sink)
    for settled in in_each_mode(model, base) if model.modes else ():
        placement.check(settled, sink)
    for changes in claimed_changes(model):
        placement.check(changed(base, changes), sink)
    if any(varies_by_case(parameter.value) for parameter in model.parameters):
        check_claimed_values(model, sink)
    for matrix in model.matrices:
        check_ranges(matrix, model.parameters, sink)
    if not sink.has_errors:
        report_unloaded(sink, [one for n, one in model.machines.items() if n in own], model)


def files_of(source: Source, importer: Importer, project: Project | None) -> dict[Path, str]:
    """Return the files that a spec was read from, none for a text that is no file.

    Each stands with a checksum of its text as it was read; the project file is one of them.
    """
    own = file_of(source)
    if own is None or not isinstance(importer, Importer):
        return {}
    of_project = {} if project is None else {project.file: checksum(project.source.text)}
    return {own: checksum(source.text), **importer.named, **of_project}


def load(path: Path) -> Spec:
    """Return a checked spec; QpsError where it has mistakes."""
    outcome = check_file(path)
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    return outcome.value
