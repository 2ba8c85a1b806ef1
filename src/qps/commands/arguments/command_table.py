"""The commands, in the order of `qps --help`, and how the arguments of each are declared."""

from __future__ import annotations

from qps.commands.arguments.answer_arguments import (
    add_check,
    add_explain,
    add_incident,
    add_matrix,
    add_metrics,
    add_plan,
    add_simulate,
    add_solve,
    add_test,
)
from qps.commands.arguments.cost_arguments import add_fit, add_measure, add_observe, add_trace
from qps.commands.arguments.page_arguments import add_report, add_serve
from qps.commands.arguments.review_arguments import add_ci, add_diff, add_history, add_review
from qps.commands.arguments.writing_arguments import (
    add_completion,
    add_fmt,
    add_lsp,
    add_new,
    add_start,
)

FOR_PROGRAMS = frozenset(["completion", "fmt", "review"])
"""Commands whose text is read by shells, editors and services."""
TAKES_A_PROGRAM = "measure"
"""The command behind whose `--` stands another one, with flags of its own."""

COMMANDS = {
    "check": add_check,
    "solve": add_solve,
    "explain": add_explain,
    "test": add_test,
    "simulate": add_simulate,
    "incident": add_incident,
    "matrix": add_matrix,
    "plan": add_plan,
    "report": add_report,
    "serve": add_serve,
    "metrics": add_metrics,
    "measure": add_measure,
    "fit": add_fit,
    "observe": add_observe,
    "fmt": add_fmt,
    "diff": add_diff,
    "review": add_review,
    "ci": add_ci,
    "history": add_history,
    "trace": add_trace,
    "start": add_start,
    "new": add_new,
    "lsp": add_lsp,
    "completion": add_completion,
}
