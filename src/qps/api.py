"""QPS from Python: load a spec, solve it, read utilization, sweep a range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.extras import need_arrow
from qps.compiler.diagnostics.source import Source
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.pipeline import Scenarios, Spec, check_file, check_source
from qps.matrix_result import MatrixResult
from qps.measurements import Runs, text_of, wrong
from qps.reports.text.layout.notebook import NotebookView, ShowsItself

if TYPE_CHECKING:
    import numpy as np
    import sympy

    from qps.compiler.configure.configuration import Configuration
    from qps.compiler.lower.load_graph import LoadGraph
    from qps.compiler.network.network import Network
    from qps.compiler.quantities.certainty import Certainty
    from qps.reports.text.changes.difference_text import DifferenceView
    from qps.reports.text.changes.inverse_text import InverseView
    from qps.reports.text.changes.plan_view import PlanView
    from qps.reports.text.changes.sizing_values import SizingView
    from qps.reports.text.claims.drift_text import DriftView
    from qps.reports.text.solutions.answer_values import SolveView
    from qps.solver.claims.claim_results import ClaimResult
    from qps.solver.traces.trace_answers import TracesView

Settings = Mapping[str, object]
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Declared = TypeVar("_Declared", ir.Matrix, ir.DesignChoices)


def load(path: str | Path) -> Model:
    """Load and check a spec. Raises QpsError, with `.diagnostics`, if it has errors."""
    outcome = check_file(Path(path))
    return _model(outcome.value, outcome.diagnostics)


def loads(text: str, name: str = "spec") -> Model:
    """Check a spec from a string. It can import the standard library, but no other files.

    Raises QpsError, with `.diagnostics`, if it has errors.
    """
    outcome = check_source(Source(name, text))
    return _model(outcome.value, outcome.diagnostics)


def trace(
    *paths: str | Path,
    period: str | None = None,
    unit: str | None = None,
    latency: str | None = None,
    gaps: str | None = None,
    buffer: str | None = None,
    threshold: str | None = None,
) -> TracesView:
    """Compute the jitter of recorded packets and the effect of playout buffers.

    The arguments are those of `qps trace`, as strings (`period="160 ms"`). The result has the
    attributes of `qps trace --format json`. Raises QpsError if a file or quantity is invalid.
    """
    from qps.reports.text.measurements.trace_limits import read_limits, read_time, read_unit  # noqa: PLC0415
    from qps.solver.traces.recorded_jitter import load_trace  # noqa: PLC0415
    from qps.solver.traces.trace_answers import trace_answers  # noqa: PLC0415

    limits = read_limits(latency, gaps, buffer, threshold)
    between, of_times = read_time(period, "--period"), read_unit(unit)
    if not paths:
        raise TypeError("trace() takes the paths of traces: trace('night.csv', period='160 ms')")
    return trace_answers([load_trace(Path(path), between, of_times) for path in paths], limits)


def _model(spec: Spec | None, diagnostics: Iterable[Diagnostic]) -> Model:
    if spec is None:
        raise QpsError(diagnostics)
    return Model(spec)


def _reads_population(
    method: Callable[_Parameters, _Result],
) -> Callable[_Parameters, _Result]:
    """Have a method read its argument `users` also by its former name, `population`."""

    @wraps(method)
    def reading(*args: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        if "population" in named:
            named["users"] = named.pop("population")
        return method(*args, **named)

    return reading


@dataclass(frozen=True)
class Model(ShowsItself):
    """A checked spec."""

    spec: Spec

    def solve(
        self,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
        *,
        advice: bool = False,
        confidence: float = 0.95,
    ) -> SolveView:
        """Solve the spec. The result has the attributes of `qps solve --format json`.

        `set` maps names to values, as strings (`{"size": "1200 byte/packet"}`) or plain numbers. If
        inputs are uncertain, `uncertainty` in the result contains the prediction interval of the
        capacity, from samples, and the capacity at `confidence`. `advice` adds changes that
        increase capacity, which takes a second or two. Raises ValueError if `confidence` is not
        between 0.5 and 0.999.
        """
        from qps.reports.text.solutions.answer_values import first_screen  # noqa: PLC0415
        from qps.reports.text.solutions.change_wording import wording  # noqa: PLC0415
        from qps.reports.text.solutions.first_screen import decision  # noqa: PLC0415
        from qps.reports.text.solutions.solve_view import solve_view  # noqa: PLC0415
        from qps.solver.solved_spec import solved_spec  # noqa: PLC0415
        from qps.solver.uncertainty.interval_result import CERTAINTIES, Sampling  # noqa: PLC0415

        low, high = CERTAINTIES
        if not low <= confidence <= high:
            raise ValueError(f"confidence is a share from {low} to {high}, not {confidence}")
        settings, sampling = tuple(_as_texts(set)), Sampling(certainty=confidence)
        found = solved_spec(self.spec, scenario, settings, advice=advice, sampling=sampling)
        words = wording(found.model, found.configuration, found.answer)
        first = decision(found.answer, words)
        view = solve_view(found.answer, words)
        return first_screen(
            view, first.headline.text, tuple(fact.pair for fact in first.facts), words.labels
        )

    @_reads_population
    def solve_for(
        self,
        name: str,
        users: int,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> InverseView:
        """Find the range of values of a number that supports `users`.

        The result has the attributes of `qps solve --for … --format json`.
        """
        from qps.reports.text.changes.inverse_text import inverse_view  # noqa: PLC0415
        from qps.solver.what_if.inverse import solve_for  # noqa: PLC0415

        spec, configuration = self._configured(scenario, set)
        solution = solve_for(spec.model, configuration, name, users)
        return inverse_view(solution, spec.model.file)

    @_reads_population
    def size(
        self,
        users: int,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> SizingView:
        """Find the size that each resource needs to support `users`.

        The result has the attributes of `qps solve --users … --format json`.
        """
        from qps.reports.text.changes.sizing_values import sizing_view  # noqa: PLC0415
        from qps.solver.what_if.sizing import size  # noqa: PLC0415

        spec, configuration = self._configured(scenario, set)
        return sizing_view(size(spec.model, configuration, users), spec.model.file)

    carry = size
    """Former name of `size`, which remains available."""

    @_reads_population
    def plan(
        self,
        users: int,
        name: str | None = None,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> PlanView:
        """Find the cheapest configuration of a choice that supports `users`.

        The name is optional if the spec has one choice. The result has the attributes of
        `qps plan --users … --format json`. Raises KeyError if the name is unknown, or if it is
        omitted and there are several.
        """
        from qps.reports.text.changes.plan_view import plan_view  # noqa: PLC0415
        from qps.solver.cheapest.plan_answer import plan  # noqa: PLC0415
        from qps.solver.claims.planned_claims import with_broken_claims  # noqa: PLC0415

        spec, configuration = self._configured(scenario, set)
        choices = _named(spec.model.choices, name, "choices")
        found = plan(spec.model, configuration, choices, users)
        scenarios = [scenario] if isinstance(scenario, str) else [*(scenario or ())]
        found = with_broken_claims(found, spec, choices, scenarios, _as_texts(set))
        return plan_view(found)

    def graph(
        self,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> LoadGraph:
        """Return the symbolic load graph of one configuration.

        If an input is uncertain, requirements with a confidence level are omitted:
        they need samples.
        """
        from qps.compiler.lower.certainty_requirements import as_stated  # noqa: PLC0415
        from qps.compiler.lower.lowering import lower  # noqa: PLC0415

        spec, configuration = self._configured(scenario, set)
        return lower(as_stated(spec.model, configuration), configuration)

    def network(
        self,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> Network:
        """Return the queueing network of one configuration: stations, pools, classes, itineraries.

        The network is not solved. `network().graph()` returns a `networkx.MultiDiGraph` of the
        topology, with an edge for every call (`kind="call"`) and every hop of a stream. It requires
        `pip install "networkx>=3.2"`.
        """
        return self.graph(scenario, set).network

    def utilization_of(
        self,
        resource: str,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> sympy.Expr:
        """Return the utilization of a resource as a sympy expression; KeyError if unknown."""
        from qps.engine.expressions.sympy_algebra import to_sympy  # noqa: PLC0415 - slow to import, seldom needed

        return to_sympy(self.graph(scenario, set).resources[resource].load)

    load_of = utilization_of
    """The former name of `utilization_of`, which is read for ever."""

    def test(self, *, simulate: bool = True) -> tuple[ClaimResult, ...]:
        """Compare all claims and observations with predictions.

        If the project file accepts a failure, its verdict is `ACCEPTED` until the given date. Each
        `simulated` claim runs a simulation for up to a minute, unless `simulate` is False.
        """
        from qps.simulation.claim_simulator import claim_simulator  # noqa: PLC0415
        from qps.solver.claims.claim_evaluation import Claims  # noqa: PLC0415

        return Claims.of(self.spec, claim_simulator() if simulate else None).results()

    def drift(
        self,
        observed: Runs,
        *,
        of: str | Sequence[str] = (),
        resource: str = "cpu",
        tolerance: str | None = None,
        chance: str | None = None,
    ) -> DriftView:
        """Compare service demands with measured runs of the system.

        The arguments are those of `qps test --observed` (`tolerance="5 %"`, `chance="1 %"`), and
        the result has the attributes of its JSON output. `observed` is a CSV file or a result of
        `qps.observe`. Raises QpsError if there are too few runs.
        """
        from qps.reports.text.claims.drift_text import drift_view  # noqa: PLC0415
        from qps.solver.claims import observed_drift as drift  # noqa: PLC0415

        text, name = text_of(observed)
        try:
            share, noise = drift.tolerance_of(tolerance), drift.chance_of(chance)
            found = drift.observed_drift(
                self.spec,
                text,
                name,
                of=[of] if isinstance(of, str) else of,
                resource=resource,
                chance=noise,
                tolerance=share,
            )
        except DataError as error:
            raise wrong(error) from error
        return drift_view(found, self.spec.model.file, tolerance=share, chance=noise)

    def diff(
        self,
        new: Model,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> DifferenceView:
        """Compare this model (old) with another model (new).

        The result has the attributes of `qps diff --format json`.
        """
        from qps.reports.text.changes.difference_text import spec_difference_view  # noqa: PLC0415
        from qps.solver.spec_difference import spec_difference  # noqa: PLC0415

        found = spec_difference(self.spec, new.spec, scenario, tuple(_as_texts(set)))
        return spec_difference_view(found)

    def _configured(
        self, scenario: Scenarios, settings: Settings | None
    ) -> tuple[Spec, Configuration]:
        """Return the spec with the parts that settings choose, and its configuration."""
        texts = _as_texts(settings)
        spec = self.spec.with_parts_of(texts)
        return spec, spec.configuration(scenario, texts)

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of a model, which is not solved for that."""
        model = self.spec.model
        named = {
            "parameters": [one.name for one in model.parameters],
            "streams": [one.name for one in model.streams],
            "scenarios": [one.name for one in model.scenarios],
            "figures": [one.name for one in model.figures],
            "matrices": [one.name for one in model.matrices],
        }
        return NotebookView(
            title=f"{model.name} ({model.file})",
            answer=model.doc.splitlines()[0] if model.doc else model.name,
            facts=tuple((kind, ", ".join(names)) for kind, names in named.items()),
        )

    def matrix(self, name: str | None = None) -> MatrixResult:
        """Return a matrix of the spec. The name is optional if there is only one.

        Raises KeyError if the name is unknown, or if it is omitted and there are several.
        """
        from qps.solver.matrix.matrix_compiler import compile_matrix  # noqa: PLC0415
        from qps.solver.uncertainty.confidence_interface import model_at_confidence  # noqa: PLC0415
        from qps.solver.uncertainty.sampled_rows import drawn_in_rows  # noqa: PLC0415

        matrix = _named(self.spec.model.matrices, name, "matrices")
        need_arrow(f"matrix `{matrix.name}`", matrix.span)
        return MatrixResult(
            compile_matrix(
                self.spec.model, matrix, drawn=drawn_in_rows, at_confidence=model_at_confidence
            )
        )

    def sweep(
        self,
        /,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
        **populations: Iterable[int],
    ) -> dict[str, np.ndarray]:
        """Return utilization and requirements for a range of populations, as columns.

        You can pass the result to pandas, Polars or Arrow: `pandas.DataFrame(model.sweep(N=…))`.
        Raises TypeError if the keyword is not the name of the population.
        """
        from qps.solver.answers.sweep import sweep  # noqa: PLC0415

        name = self.spec.model.population.name
        if name == "set" and set is not None and not isinstance(set, Mapping):
            set, populations = None, {name: set}  # noqa: A001 - a population may be called that
        if list(populations) != [name]:
            raise TypeError(f"sweep() takes the population: sweep({name}=range(2, 200))")
        return sweep(self.graph(scenario, set), populations[name])

    def known(
        self,
        scenario: Scenarios = None,
        set: Settings | None = None,  # noqa: A002
    ) -> dict[str, Certainty]:
        """Return the accuracy of each column of `sweep`: its `kind` and `reasons`."""
        from qps.solver.answers.sweep import columns_known  # noqa: PLC0415

        return columns_known(self.graph(scenario, set))


def _named(declared: Sequence[_Declared], name: str | None, several: str) -> _Declared:
    """Return the declaration of a name, or the only one."""
    found = [one for one in declared if name in (None, one.name)]
    if len(found) != 1:
        names = [one.name for one in declared]
        raise KeyError(f"name one of the {several} {names}, not {name}")
    return found[0]


def _as_texts(settings: Settings | None) -> list[str]:
    return [f"{name} = {value}" for name, value in (settings or {}).items()]
