"""What the functions of the language take: told by the table, with the reason and the place."""

from __future__ import annotations

import pytest

from helpers.specs import PRELUDE
from qps.compiler.check.values.check_operations import FUNCTIONS
from qps.compiler.diagnostics.codes import Severity
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.engine.operations import BY_NAME

STREAM = "stream flow for each host { traffic 1 packet/s; at host { work } }\n"


def reported(more: str, host: str = "box") -> tuple[Diagnostic, ...]:
    text = f"{PRELUDE}topology {{ node host = {host} }}\n{STREAM}{more}\n"
    found = check_source(Source("spec.qps", text)).diagnostics
    return tuple(one for one in found if one.code.severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("ln(0)", "`x` is the logarithm of a number that is not above zero"),
        ("log10(0 - 1)", "`x` is the logarithm of a number that is not above zero"),
        ("sqrt(0 - 1)", "`x` is a root of a negative number"),
        ("acos(2)", "`x` is the arc cosine of a number that is not between -1 and 1"),
        ("lambert_w(0 - 1)", "`x` is Lambert's W of a number below -1/e"),
        ("lower_lambert_w(1)", "`x` is the lower branch of Lambert's W outside -1/e to 0"),
        ("normal_quantile(1)", "`x` is the quantile of a share that is not between 0 and 100 %"),
        ("md1_quantile(50 %, 1)", "`x` has no value: the share must be at least 0 and below 100 %"),
        ("md1_quantile(1.2, 50 %)", "`x` is infinite: the load is 1 or more"),
        ("waiting(3 ms, 1)", "`x` is infinite: the load is 1 or more"),
        ("periodic_wait(0 - 1, 0.5)", "`x` has no value: `flows` is below zero"),
        ("erlang_c(0, 0.5)", "`x` has no value: there are no servers"),
        ("exp(10^6)", "`x` is out of the supported number range"),
        ("log2(3 ms)", "the argument of `log2` must be a plain number, not a time (s)"),
        ("waiting(3 ms, 1 ms)", "`load` of `waiting` must be a plain number, not a time (s)"),
        ("clamp(3 ms, 1, 4)", "cannot compare a time (s) and a plain number"),
        ("clamp(3, 1)", "`clamp` takes 3 arguments, but 2 were given"),
    ],
)
def test_what_has_no_value_says_why(value: str, message: str) -> None:
    (found,) = reported(f"param x = {value}")
    assert found.message == message
    assert found.primary is not None
    assert found.primary.span.place.startswith("spec.qps:")


@pytest.mark.parametrize(
    "value",
    ["sqrt(16)", "clamp(5, 1, 4)", "2 * erlang_b(2, 1) / 0.4 * 4", "waiting(2, 0.5)", "exp(0) * 4"],
)
def test_what_is_a_fraction_counts(value: str) -> None:
    """The root of 16 was no whole number where a count was asked for."""
    assert reported("", f"box * ({value})") == ()


@pytest.mark.parametrize("value", ["sqrt(2)", "log2(8.5)", "normal_quantile(90 %)", "2 * exp(1)"])
def test_what_is_no_whole_number_is_no_count(value: str) -> None:
    assert len(reported("", f"box * ({value})")) == 1


def test_every_row_that_names_its_arguments_is_in_the_language() -> None:
    assert FUNCTIONS - BY_NAME.keys() == {"sqrt", "log2", "log10", "clamp"}
