"""What all checks of a program share: the program, where it is read from, where mistakes go."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.check_classes import ClassShares
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.program import Program
from qps.compiler.check.values.values import Value
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.ir.own_numbers import OwnNumber
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.recordings import Recording
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer


class KnownDeclarations(Struct, frozen=True, kw_only=True):
    """What checks have made of declarations, by their names; None where one was reported.

    It grows while a program is checked. `fits` are by file and reading, `fitted` by where they
    are named; `chosen` says of numbers that were chosen to hit what is claimed what that is.
    """

    values: dict[str, Value | None] = field(default_factory=dict)
    shares: dict[str, ClassShares | None] = field(default_factory=dict)
    recordings: dict[str, Recording | None] = field(default_factory=dict)
    machines: dict[str, ir.Machine | None] = field(default_factory=dict)
    networks: dict[str, ir.Network | None] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    profiles: dict[str, ir.Profile] = field(default_factory=dict)
    caches: dict[str, ir.Cache] = field(default_factory=dict)
    modes: dict[str, ir.Mode] = field(default_factory=dict)
    scenarios: dict[str, ir.Scenario] = field(default_factory=dict)
    matrices: dict[str, ir.Matrix] = field(default_factory=dict)
    fits: dict[tuple[str, FitColumns], CostFit | None] = field(default_factory=dict)
    fitted: dict[Span, CostFit] = field(default_factory=dict)
    stations: dict[tuple[str, str], StationFit | None] = field(default_factory=dict)
    """Stations fitted to closed load tests, by file and column of clients."""
    stations_used: dict[Span, StationFit] = field(default_factory=dict)
    chosen: dict[Span, str] = field(default_factory=dict)
    chosen_with: dict[str, str] = field(default_factory=dict)
    """Parameters that a number rests on which was chosen so."""
    uncertain: dict[str, ir.Parameter] = field(default_factory=dict)
    """Uncertain numbers that stand in no parameter of their own, each as one."""
    uncertain_names: dict[Span, str] = field(default_factory=dict)
    numbers: dict[str, OwnNumber] = field(default_factory=dict)
    """The numbers that the spec states in place, by the names that graphs call them."""
    numbers_set: dict[str, None] = field(default_factory=dict)
    """Those of them that changes set."""

    def copied(self) -> KnownDeclarations:
        """Return the same, to go on from: what is found then does not come back here."""
        return KnownDeclarations(
            **{name: dict(getattr(self, name)) for name in self.__struct_fields__}
        )


class Context(Struct, frozen=True, kw_only=True):
    """A program that is checked; files are read by `importer`, none where that is None.

    Checks of an instance see it as the `system` at hand, those of the spec itself the main module.
    """

    program: Program
    sink: Sink
    importer: Importer | None = None
    known: KnownDeclarations = field(default_factory=KnownDeclarations)
    system: LoadedModule | None = None
    values_by_place: dict[Span, dict[str, Value]] | None = None
    """What expressions came to, by their places and modules, where somebody requests that."""

    def data(self, file: ast.Text, source: Source) -> str | None:
        """Return the text of a file that a source names, None where that was reported."""
        assert self.importer is not None, "what was read before is known"
        text = self.importer.data(file, source)
        self.sink.add_all(text.diagnostics)
        return text.value

    @property
    def main(self) -> LoadedModule:
        """The module of the spec itself, or of the instance that is checked."""
        return self.system or self.program.main
