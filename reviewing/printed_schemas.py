"""The schema of every JSON that a command prints: docs/schemas/ holds them as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from qps.compiler.diagnostics.render import DiagnosticsView
from qps.reports.text.changes.difference_text import DifferenceView
from qps.reports.text.changes.inverse_text import InverseView
from qps.reports.text.changes.plan_view import PlanView
from qps.reports.text.changes.sizing_values import SizingView
from qps.reports.text.claims.claim_values import TestView
from qps.reports.text.claims.drift_text import DriftView
from qps.reports.text.claims.simulation_text import SimulationView
from qps.reports.text.explanations.explanation import Explanation
from qps.reports.text.explanations.network_view import NetworkView
from qps.reports.text.explanations.rule_text import RuleView
from qps.reports.text.incidents.incident_view import IncidentsView
from qps.reports.text.incidents.simulated_course import SimulatedCourseView
from qps.reports.text.measurements.fit_view import FitView
from qps.reports.text.measurements.scalability_view import ScalabilityView
from qps.reports.text.schemas.json_schemas import schema_of
from qps.reports.text.schemas.json_shapes import (
    CodeShape,
    FigureShape,
    MatrixShape,
    MeasuredShape,
    MeasuredStepShape,
)
from qps.reports.text.solutions.answer_values import SolveView
from qps.reviewing.ci_view import CiView
from qps.reviewing.history_view import History
from qps.solver.traces.trace_answers import TracesView

PRINTED: Mapping[str, tuple[type[Struct], str]] = {
    "solve": (SolveView, "qps solve --format json"),
    "inverse": (InverseView, "qps solve --for … --format json"),
    "plan": (PlanView, "qps plan --format json"),
    "sizing": (SizingView, "qps solve --users … --format json"),
    "diagnostics": (DiagnosticsView, "qps check --format json"),
    "test": (TestView, "qps test --format json"),
    "drift": (DriftView, "qps test --observed … --format json"),
    "explain": (Explanation, "qps explain FILE NAME --format json"),
    "figure": (FigureShape, "qps explain FILE FIGURE --format json"),
    "code": (CodeShape, "qps explain CODE --format json"),
    "network": (NetworkView, "qps explain --network FILE --format json"),
    "rule": (RuleView, "qps explain RULE --format json"),
    "diff": (DifferenceView, "qps diff --format json"),
    "ci": (CiView, "qps ci --format json"),
    "history": (History, "qps history --format json"),
    "matrix": (MatrixShape, "qps matrix -o FILE.json"),
    "simulation": (SimulationView, "qps simulate --format json"),
    "simulated_course": (SimulatedCourseView, "qps simulate --over … --format json"),
    "incident": (IncidentsView, "qps incident --format json"),
    "fit": (FitView, "qps fit --format json"),
    "scalability": (ScalabilityView, "qps fit --by COLUMN --format json"),
    "trace": (TracesView, "qps trace --format json"),
    "measured": (MeasuredShape, "qps measure --format json"),
    "measured_step": (MeasuredStepShape, "qps measure step --format json"),
}
"""By the middle part of the key `schema`, such as `qps/solve/2`: the type, and what prints it."""

_VERSIONS: Mapping[str, int] = {
    "ci": 4,
    "code": 2,
    "diagnostics": 2,
    "diff": 7,
    "drift": 3,
    "explain": 4,
    "history": 2,
    "inverse": 3,
    "matrix": 5,
    "measured": 2,
    "network": 2,
    "rule": 2,
    "simulation": 2,
    "sizing": 4,
    "solve": 5,
    "test": 2,
}
"""The last part of that key, where it is no longer 1."""


def schema_files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    for name, (kind, printer) in PRINTED.items():
        schema = schema_of(kind, f"qps/{name}/{_VERSIONS.get(name, 1)}", printer)
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        yield f"{name}.schema.json", text + "\n"
