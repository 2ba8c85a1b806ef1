"""Laws of the table of operations, for every row: its values, its bounds, its exact values."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from qps.compiler.lower.efficiency import Effective
from qps.compiler.lower.extremes import Maximum, Mean, Minimum, Ratio
from qps.compiler.lower.queue_functions import QUEUE_FUNCTIONS, Waiting

from qps.compiler.lower.lower_expressions import _FUNCTIONS
from qps.engine.building import Builder
from qps.engine.columns.on_bounds import Bounds
from qps.engine.operations import OPERATIONS, InexactError

ANY, POSITIVE, LOAD, LEVEL = (-5.0, 5.0), (0.1, 20.0), (0.0, 0.97), (0.5, 0.999)
FLOWS = (2.0, 60.0)

CASES: dict[str, tuple[tuple[float, float], ...]] = {
    "+": (ANY, ANY),
    "*": (ANY, ANY),
    "pow": (POSITIVE, ANY),
    "ratio": (ANY, POSITIVE),
    "mean": (ANY, POSITIVE),
    "waiting": (POSITIVE, (0.0, 1.4)),
    "max": (ANY, ANY),
    "min": (ANY, ANY),
    "abs": (ANY,),
    "sqrt": (POSITIVE,),
    "exp": (ANY,),
    "ln": (POSITIVE,),
    "cos": ((-12.0, 12.0),),
    "acos": ((-0.99, 0.99),),
    "floor": (ANY,),
    "ceil": (ANY,),
    "w": (POSITIVE,),
    "lower_w": ((-0.36, -0.001),),
    "effective": ((1.0, 64.0), (0.5, 1.0)),
    "harmonic": (POSITIVE,),
    "erlang_b": (FLOWS, POSITIVE),
    "erlang_c": (FLOWS, POSITIVE),
    "periodic_wait": (FLOWS, LOAD),
    "md1_tail": (LOAD, POSITIVE),
    "md1_quantile": (LOAD, LEVEL),
    "batch_quantile": (LOAD, LEVEL),
    "periodic_tail": (FLOWS, LOAD, POSITIVE),
    "periodic_quantile": (FLOWS, LOAD, LEVEL),
    "sojourn_quantile": (LEVEL, POSITIVE, LEVEL),
    "gamma_quantile": (LOAD, (0.25, 4.0), LEVEL),
    "normal_tail": (ANY,),
    "normal_quantile": (LEVEL,),
}
"""Between which numbers each operand of an operation has a value."""

IN_SYMBOLS = {
    "+": sympy.Add,
    "*": sympy.Mul,
    "pow": sympy.Pow,
    "ratio": Ratio,
    "mean": Mean,
    "waiting": Waiting,
    "max": Maximum,
    "min": Minimum,
    "abs": sympy.Abs,
    "sqrt": sympy.sqrt,
    "exp": sympy.exp,
    "ln": sympy.log,
    "cos": sympy.cos,
    "acos": sympy.acos,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "w": sympy.LambertW,
    "lower_w": lambda x: sympy.LambertW(x, -1),
    "effective": Effective,
    "harmonic": lambda x: sympy.digamma(x + 1) + sympy.EulerGamma,
    **{function.word: function for function in QUEUE_FUNCTIONS},
}

law = settings(max_examples=25, deadline=None)
shares = st.integers(0, 100).map(lambda share: share / 100)
each_row = pytest.mark.parametrize("word", OPERATIONS)


def test_every_row_has_its_case() -> None:
    assert CASES.keys() == OPERATIONS.keys() == IN_SYMBOLS.keys()
    assert all(len(CASES[word]) == row.operands for word, row in OPERATIONS.items())


@each_row
@law
@given(st.data())
def test_values_are_those_of_the_algebra(word: str, data: st.DataObject) -> None:
    at = [low + data.draw(shares) * (high - low) for low, high in CASES[word]]
    with np.errstate(all="ignore"):
        found = float(OPERATIONS[word].array(*at))
    assert OPERATIONS[word].number(*at) == pytest.approx(found, rel=1e-10, abs=1e-12)
    expected = float(IN_SYMBOLS[word](*(sympy.Float(number, 25) for number in at)).evalf(20))
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-12)


@each_row
@law
@given(st.data())
def test_bounds_hold_between_two_ends(word: str, data: st.DataObject) -> None:
    """Each operand moves along a line while the population does; values and chords are bounded."""
    lines = []
    for low, high in CASES[word]:
        start, end = (low + data.draw(shares) * (high - low) for _ in range(2))
        lines.append((start, end))
    row, points = OPERATIONS[word], np.linspace(0.0, 1.0, 9)
    box = [
        Bounds(np.float64(min(line)), np.float64(max(line)), *(2 * [np.float64(line[1] - line[0])]))
        for line in lines
    ]
    with np.errstate(all="ignore"):
        found = row.bounds(*box)
        values = np.asarray(row.array(*(start + points * (end - start) for start, end in lines)))
        room = 1e-9 * (1 + np.abs(values))
        # Not-a-number proves nothing.
        assert not (values < found.low - room).any()
        assert not (values > found.high + room).any()
        chords = np.diff(values) / np.diff(points)
        room = 1e-6 * (1 + np.abs(chords))
        assert not (chords < found.slope_low - room).any()
        assert not (chords > found.slope_high + room).any()


@each_row
@law
@given(st.data())
def test_exact_values_are_the_values(word: str, data: st.DataObject) -> None:
    row = OPERATIONS[word]
    at = [Fraction(low + data.draw(shares) * (high - low)) for low, high in CASES[word]]
    try:
        exact = row.exact(*at)
    except InexactError:
        return
    assert float(row.array(*map(float, at))) == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("function", _FUNCTIONS, ids=lambda function: function.value)
def test_every_function_of_the_language_becomes_operations(function: object) -> None:
    population = sympy.Symbol("N", integer=True, positive=True)
    lowered = _FUNCTIONS[function]  # type: ignore[index]
    for count in (1, 2, 3):
        try:
            expr = lowered(*(population / (7 + k) for k in range(count)))
        except TypeError:
            continue
        builder = Builder(population, {}, {})
        builder.build(expr)
        break
    else:
        pytest.fail("takes more than three operands")


def test_the_page_knows_every_operation() -> None:
    scripts = files("qps.reports") / "scripts" / "engine"
    codes = (scripts / "program.js").read_text("utf-8").partition("const CODES = [")[2]
    told = set(re.findall(r'"([^"]+)"', codes.partition("]")[0]))
    queues = (scripts / "queues.js").read_text("utf-8").partition("QUEUE_FUNCTIONS = {")[2]
    told |= set(re.findall(r"^\s*(\w+)[:,]", queues.partition("\n}")[0], re.MULTILINE))
    assert set(OPERATIONS) <= told
