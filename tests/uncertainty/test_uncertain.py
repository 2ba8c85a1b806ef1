"""Numbers that are not known: how they are written, what they are called, what is said of them."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, log, sqrt
from pathlib import Path
from statistics import NormalDist

import pytest

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse

WITHIN = NormalDist().inv_cdf(0.975)
BETWEEN = NormalDist().inv_cdf(0.95)

SPEC = """
users N in 1..1000
{declared}
machine server {{ cpu 4 core }}
component work {{ cpu {cost} }}
topology {{ node web = server }}
stream replies in all {{ traffic N * 1 request/s, {size}; at web {{ work }} }}
"""


def spec_of(
    cost: str = "1 ms/request",
    declared: str = "",
    size: str = "1 kB/request",
    folder: Path | None = None,
) -> Spec:
    source = Source("spec.qps", SPEC.format(cost=cost, declared=declared, size=size), folder)
    found = check_source(source, Importer(root=folder)).value
    assert found is not None
    return found


def uncertain_in(spec: Spec) -> dict[str, ir.Distribution]:
    return {
        one.name: one.value.distribution
        for one in spec.model.parameters
        if isinstance(one.value, ir.Uncertain)
    }


def only(spec: Spec) -> ir.Distribution:
    ((_, found),) = uncertain_in(spec).items()
    return found


MS = Fraction(1, 1000)


@pytest.mark.parametrize(
    ("written", "mean", "half"),
    [
        ("8 ms/request +- 1 ms/request", 8 * MS, 1 * MS),
        ("8 +- 1 ms/request", 8 * MS, 1 * MS),
        ("8 ms/request +- 1", 8 * MS, 1 * MS),
        ("8 ms/request ± 10 %", 8 * MS, 8 * MS / 10),
        ("8 ms/request +- 10 %", 8 * MS, 8 * MS / 10),
    ],
)
def test_a_number_with_its_95_percent_interval(
    written: str, mean: Fraction, half: Fraction
) -> None:
    found = only(spec_of(written))
    assert isinstance(found, ir.Normal)
    assert found.mean == mean
    assert isclose(found.deviation, float(half) / WITHIN)
    low, high = found.ends
    assert isclose(low, mean - half)
    assert isclose(high, mean + half)


@pytest.mark.parametrize(
    ("written", "middle", "half"),
    [
        ("20 +- 10 %", 20, 2),  # a share of the number
        ("70 % +- 5 %", Fraction(7, 10), Fraction(5, 100)),  # points
        ("0.7 +- 5 %", Fraction(7, 10), Fraction(35, 1000)),
    ],
)
def test_percent_is_of_the_number_unless_that_is_in_percent_itself(
    written: str, middle: Fraction, half: Fraction
) -> None:
    spec = spec_of("x * 1 ms/request", f"param x = {written}")
    found = only(spec)
    assert isinstance(found, ir.Normal)
    assert found.mean == middle
    assert isclose(found.deviation, float(half) / WITHIN)


def test_between_two_numbers_above_zero_it_is_lognormal_and_holds_90_percent() -> None:
    found = only(spec_of("between 6 and 12 ms/request"))
    assert isinstance(found, ir.Lognormal)
    assert isclose(found.median, sqrt(6 * 12) / 1000)
    assert isclose(found.log_deviation, log(2) / 2 / BETWEEN)


def test_between_two_numbers_of_which_one_is_not_above_zero_it_is_normal() -> None:
    spec = spec_of("max(x, 0) * 1 ms/request", "param x = between -1 and 3")
    found = only(spec)
    assert isinstance(found, ir.Normal)
    assert found.mean == 1
    assert isclose(found.deviation, 2 / BETWEEN)


@pytest.mark.parametrize(
    ("written", "distribution", "typical"),
    [
        ("normal(8 ms/request, 1 ms/request)", ir.Normal(8 * MS, MS), 8 * MS),
        ("lognormal(8 ms/request, 30 %)", ir.Lognormal(8 * MS, Fraction(3, 10)), 8 * MS),
        ("uniform(6 ms/request, 8 ms/request)", ir.Uniform(6 * MS, 8 * MS), 7 * MS),
        (
            "triangular(6 ms/request, 7 ms/request, 9 ms/request)",
            ir.Triangular(6 * MS, 7 * MS, 9 * MS),
            7 * MS,
        ),
        (
            "one of [4 ms/request, 2 ms/request weight 3]",
            ir.Weighted((2 * MS, 4 * MS), (Fraction(3, 4), Fraction(1, 4))),
            2 * MS,
        ),
    ],
)
def test_a_distribution_by_its_name(
    written: str, distribution: ir.Distribution, typical: Fraction
) -> None:
    found = only(spec_of(written))
    assert found == distribution
    assert found.typical == typical


def test_samples_are_those_of_a_column(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("latency,other\n3,x\n1,y\n2.5,z\n")
    found = only(spec_of('samples "runs.csv" latency * 1 ms/request', folder=tmp_path))
    assert found == ir.Sampled((Fraction(1), Fraction(5, 2), Fraction(3)))
    assert found.typical == Fraction(5, 2)


def test_a_name_that_nothing_uses_is_no_number_of_the_model() -> None:
    declared = "let left = 2 +- 10 %\nlet used = 3 +- 10 %\nlet twice = 2 * left"
    options = 'expect x { twice ~ 4 within 1 %; source model "y" }'
    assert list(uncertain_in(spec_of("used * 1 ms/request", declared))) == ["used"]
    assert set(uncertain_in(spec_of("used * 1 ms/request", f"{declared}\n{options}"))) == {
        "used",
        "left",
    }


def test_a_parameter_whose_value_is_uncertain_is_one_with_its_range() -> None:
    spec = spec_of("1 ms/request", "param size = 2 kB/request +- 10 % in 1..9 kB/request", "size")
    (found,) = [one for one in spec.model.parameters if one.name == "size"]
    assert found.low is not None
    assert found.is_own


@pytest.mark.parametrize(
    "value",
    [
        "2 * (3 ms/request +- 10 %)",
        "(3 ms/request +- 10 %) * 2",
        "6 ms/request * lognormal(1, 5 %)",
        "(2 ms/request +- 5 %) + (4 ms/request +- 10 %)",
        "if shortened then (1 ms/request +- 1 %) else 6 ms/request",
    ],
)
def test_a_part_of_a_parameter_is_not_called_as_that(value: str) -> None:
    declared = f"option shortened = off\nparam cost = {value}"
    spec = spec_of("cost", declared)
    found = uncertain_in(spec)
    assert len(found) == value.count("+-") + value.count("lognormal")
    assert all(name.startswith("part of cost") for name in found)
    graph = lower(spec.model, spec.configuration())
    assert graph.at(100).number(graph.resources["web.cpu"].load) == pytest.approx(0.15)


def test_what_stands_in_no_parameter_is_called_by_its_place() -> None:
    spec = spec_of(
        "2 ms/request +- 10 %", "let extra = 1 kB/request +- 10 %", "extra + (1 kB/request +- 1 %)"
    )
    assert set(uncertain_in(spec)) == {"work.cpu", "extra", "replies.traffic"}


def test_what_is_written_once_is_one_number() -> None:
    spec = spec_of("t + t", "let t = 1 ms/request +- 10 %")
    assert len(uncertain_in(spec)) == 1


def test_behind_an_expression_a_share_is_a_number_of_its_own() -> None:
    spec = spec_of("2 * t +- 10 %", "param t = 1 ms/request +- 5 %")
    found = uncertain_in(spec)
    assert set(found) == {"t", "work.cpu"}
    factor = found["work.cpu"]
    assert isinstance(factor, ir.Normal)
    assert factor.mean == 1


def test_a_setting_may_say_how_far_off_a_parameter_is_or_that_it_is_not() -> None:
    spec = spec_of("t", "param t = 1 ms/request +- 5 %")
    set_to = spec.configuration(settings=["t = 2 ms/request"]).parameters["t"]
    assert not isinstance(set_to, ir.Uncertain)
    set_to = spec.configuration(settings=["t = 2 ms/request +- 1 %"]).parameters["t"]
    assert isinstance(set_to, ir.Uncertain)
    with pytest.raises(QpsError, match="an uncertainty must apply to the whole value"):
        spec.configuration(settings=["t = 2 * (1 ms/request +- 1 %)"])


def test_a_setting_that_crosses_what_cannot_be_is_refused() -> None:
    spec = spec_of("t", "param t = 1 ms/request")
    with pytest.raises(QpsError, match="the lower end of this distribution"):
        spec.configuration(settings=["t = 1 ms/request +- 110 %"])


def test_a_sum_with_a_number_below_zero_stays_a_sum() -> None:
    spec = spec_of("x * 1 ms/request", "param x = 3 +-1")
    assert uncertain_in(spec) == {}
    (parameter,) = [one for one in spec.model.parameters if one.name == "x"]
    assert parameter.value == ir.Constant(Fraction(2))


def test_one_of_several_is_made_of_its_values_and_weights() -> None:
    parsed = parse(Source("one.qps", "let a = one of [2 ms weight (w), 4 ms]")).value
    assert parsed is not None
    (declared,) = parsed.every(ast.Let)
    values = [part.span.text for part in ast.operands(declared.value)]
    assert values == ["2 ms", "w", "4 ms"]
