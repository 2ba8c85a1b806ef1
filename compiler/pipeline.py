"""The pipeline, stage by stage: from a path or a text to a checked spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.changes.check_settings import (
    check_consistent,
    check_one_scenario,
    check_unique_settings,
)
from qps.compiler.check.model.changes.check_time_settings import check_time_setting, selects_a_time
from qps.compiler.check.names.program import Program
from qps.compiler.check.values.context import KnownDeclarations
from qps.compiler.configure.configuration import (
    Configuration,
    changed,
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
    TooManyDiagnosticsError,
    in_order,
)
from qps.compiler.diagnostics.source import Source
from qps.compiler.ir.own_numbers import with_parameters
from qps.compiler.project.exceptions import accepted_in, file_of
from qps.compiler.project.project_file import Acceptance, Project, project_of
from qps.compiler.syntax.importer import Importer, checksum, read_spec

if TYPE_CHECKING:
    from qps.compiler.program_check import Findings

Scenarios: TypeAlias = "str | Sequence[str] | None"
"""A scenario, or several that are made together."""


class Spec(Struct, frozen=True, kw_only=True):
    """A checked spec: its model, and the data for applying changes later.

    This data is its `program` and the facts `known` about its declarations. `files` are the files
    of the spec, with checksums; `accepted` are the failures that its project file accepts.
    """

    model: ir.Model
    program: Program
    known: KnownDeclarations
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
            scenarios = [scenario] if isinstance(scenario, str) else [*(scenario or ())]
            configured = with_scenarios(self.model, scenarios, sink)
            changes = self._settings(settings, sink)
            check_one_scenario(scenarios, changes, sink)
            if not sink.has_errors:
                check_consistent(self.model, scenarios, changes, sink)
        with _refusing("the settings") as sink:
            configured = changed(configured, changes)
            check_placement(self.model, configured, sink)
            if configured.mode is None and self.model.modes:
                self.model.derived(Placement).check_modes(configured, sink)
            if not sink.has_errors:
                check_spreads(self.model, configured, sink)
        return configured

    def with_parts_of(self, settings: Iterable[str]) -> Spec:
        """Return the spec with what settings make.

        That is the machine of `web = pod(8, 16 GB)`, and a parameter of each number that they set
        and that is stated in place, such as `wan.rate`.
        What is wrong with a setting is reported where a configuration is requested.
        """
        known = self.known.copied()
        for text in settings:
            self._setting(text, Sink(), known=known)
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

    def _setting(
        self, text: str, sink: Sink, label: str = "--set", known: KnownDeclarations | None = None
    ) -> ir.Change | None:
        if selects_a_time(text):
            return check_time_setting(text, label, self.model, sink)
        from qps.compiler.program_check import check_setting  # noqa: PLC0415 - seldom needed

        return check_setting(text, label, self.program, known or self.known.copied(), sink)


@contextmanager
def _refusing(what: str) -> Iterator[Sink]:
    """Give a sink; QpsError at the end where errors are in it, or more than anybody reads."""
    sink = Sink()
    try:
        yield sink
    except TooManyDiagnosticsError as full:
        raise QpsError([*full.found, _too_many(what, full)]) from full
    if sink.has_errors:
        raise QpsError(in_order(dict.fromkeys(sink.found)))


def _too_many(what: str, full: TooManyDiagnosticsError) -> Diagnostic:
    """Return the note that the rest was not looked at."""
    message = f"{what}: {full}; the rest was not checked"
    hint = "fix the first errors; others may disappear"
    return QpsError.single(codes.TOO_MANY, None, message, hint=hint).diagnostics[0]


def check_file(path: Path) -> Outcome[Spec]:
    """Read and check a spec in a file."""
    read = read_spec(path)
    if read.value is None:
        return Outcome(None, read.diagnostics)
    return check_source(read.value)


def check_source(
    source: Source, importer: Importer | None = None, findings: Findings | None = None
) -> Outcome[Spec]:
    """Check a spec; it may read files below its own folder, or below that of its project.

    What else is found on the way goes into `findings`, where these are requested.
    """
    from qps.compiler.program_check import check_program  # noqa: PLC0415 - seldom needed

    earlier: list[Diagnostic] = []
    project = project_of(source.folder)
    if project.diagnostics:
        return Outcome(None, project.diagnostics)
    reads = importer or _importer(source, project.value)
    try:
        checked = check_program(source, reads, project.value, earlier, findings)
    except TooManyDiagnosticsError as full:
        found = in_order(dict.fromkeys((*earlier, *full.found)))
        return Outcome(None, (*(f for f in found if f.is_error), _too_many(source.label, full)))
    if checked.value is None:
        return Outcome(None, checked.diagnostics)
    spec = Spec(
        model=checked.value.model,
        program=checked.value.program,
        known=checked.value.known,
        warnings=checked.diagnostics,
        files=files_of(source, reads, project.value),
        accepted=accepted_in(source, project.value),
    )
    return Outcome(spec, spec.warnings)


def importer_of(source: Source) -> Importer:
    """Return what reads the files that a spec names, as far as its project lets it."""
    return _importer(source, project_of(source.folder).value)


def _importer(source: Source, project: Project | None) -> Importer:
    if project is None or source.folder is None or not source.folder.is_relative_to(project.root):
        return Importer(root=source.folder)
    of_what = f"the folder of the project ({project.source.label})"
    return Importer(root=project.root, of_what=of_what)


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
