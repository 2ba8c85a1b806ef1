"""Functions that nothing calls: what is wrong in every call is told, nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source

RIGHT = {
    "a_formal_of_any_dimension": "func f(x) = x + x",
    "a_demand": "func f(x) = x + 1 ms",
    "a_plain_number": "func f(x) = x + x * x",
    "two_formals": "func f(x, y) = x / y + 1 ms",
    "a_root": "func f(x) = sqrt(x) + 1 ms",
    "divided_by_a_difference": "func f(x, y) = 1 / (x - y)",
    "divided_by_what_an_example_makes_zero": "func f(x: ms) = 1 / (x - 1 ms)",
    "a_power_that_a_call_fixes": "func f(x, n) = x ^ n + 1 ms",
    "a_power_of_a_unit": "func f(n) = (1 ms) ^ n + 1 ms^2",
    "a_power_by_another_function": "func g(x, n) = x ^ n\nfunc f(x: ms) = g(x, 2) + 1 ms^2",
    "used_with_two_dimensions": "func g(x) = 2 * x\nfunc f(x: ms, y: byte) = g(x) / g(y)",
    "a_choice": "func f(x) = if x > 3 ms then x else 1 ms",
    "a_case": "func f(x) = largest(x)",
    "a_share_above_one": "func f(x) = erlang_b(x, 2 * x)",
    "a_unit_by_its_formals": "func f(rate, time) = rate * time / (1 packet)",
    "a_later_let": "func f(x) = x * slack\nlet slack = 2 ms",
}


def _errors(text: str) -> list[Diagnostic]:
    found = check_source(Source("functions.qps", text + "\nlet one = 1\n")).diagnostics
    return [diagnostic for diagnostic in found if diagnostic.is_error]


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT.keys())
def test_a_function_that_can_be_called_is_left_alone(text: str) -> None:
    assert not _errors(text)


def test_the_share_of_a_quantile_may_be_a_formal() -> None:
    topology = "topology { node host = box * N }"
    text = f"""users N in 1..100
machine box {{ cpu 1 core }}
component work {{ cpu 1 ms/packet }}
{topology}
stream talk for each host {{ traffic 8 packet/s, 1000 byte/packet; at host {{ work }} }}
func tail(share) = quantile(talk.latency, share)"""
    assert not _errors(text)


def test_a_mistake_is_reported_once_whoever_calls_it() -> None:
    bad = "func bad(x) = (x + 1 ms) * (x + 1 byte)"
    callers = ["func f(y) = bad(y)", "func g(y: ms) = bad(y)", "func h(y) = f(y) + bad(2 * y)"]
    for text in ([bad, *callers], [callers[2], callers[0], bad, callers[1]]):
        assert len(_errors("\n".join(text))) == 1


def test_functions_that_grow_beyond_all_reading_are_reported_once() -> None:
    growing = [f"func f{i}(x) = f{i - 1}(x) * f{i - 1}(x)" for i in range(1, 60)]
    found = _errors("\n".join(["func f0(x) = x + x", *growing]))
    assert [diagnostic.code for diagnostic in found] == [codes.TOO_DEEP]


def test_a_function_that_is_called_is_checked_there_alone() -> None:
    assert len(_errors("func f(x) = x + 1 ms\nlet a = f(1 byte)")) == 1


_leaves = st.sampled_from(["x", "y", "1", "2", "1 ms", "3 byte", "2 packet/s"])
_bodies = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} * {})".format, inner, inner),
        st.builds("({} / {})".format, inner, inner),
        st.builds("({} ^ {})".format, inner, st.sampled_from(["2", "0.5", "y", "(y - 1)"])),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("exp({})".format, inner),
        st.builds("sqrt({})".format, inner),
        st.builds("(if {} > {} then {} else {})".format, inner, inner, inner, inner),
    ),
    max_leaves=6,
)
_ARGUMENTS = ("3", "1.5", "5 ms", "7 byte", "11 s^2", "13 ms/byte", "17 ms^0.5")


@settings(max_examples=examples(150), deadline=None)
@given(_bodies)
def test_a_function_is_refused_only_where_every_call_is(body: str) -> None:
    func = f"func f(x, y) = {body}"
    if not _errors(func):
        return
    for one in _ARGUMENTS:
        for other in _ARGUMENTS:
            assert _errors(f"{func}\nlet called = f({one}, {other})"), (body, one, other)


_RIGHT_COMPONENTS = {
    "a_formal_of_any_dimension": "component c(x) { cpu x }",
    "any_addends": "component c(x, y: byte) { cpu x + 1 ms/packet + y / (8 byte) * 3 % }",
    "a_share_that_is_shown_later": "component c(x) { queue x * 3 packet; keep x }",
    "a_share_that_was_shown": "component c(x) { keep x; queue x * 3 packet }",
    "a_size": "component c(x) { emit x; queue 5 / x }",
    "a_load": "component c(x) { cpu 1 ms/packet measured on box at x load }",
    "a_repeated_function": "func f(a, n) = a ^ n\ncomponent c(x, n) { delay f(x, n) }",
    "a_choice": "component c(x) { delay if x > 3 ms then x else 1 ms }",
}


@pytest.mark.parametrize("text", _RIGHT_COMPONENTS.values(), ids=_RIGHT_COMPONENTS.keys())
def test_a_component_that_can_be_used_is_left_alone(text: str) -> None:
    assert not _errors(f"machine box {{ cpu 1 core }}\n{text}")


def test_a_component_that_is_used_is_checked_there_alone() -> None:
    used = _USED.format(body="x + 1 ms", one="1 byte", other="1")
    assert len(_errors(used)) == 1


_USED = """users N in 1..9
machine box {{ cpu 1 core }}
component c(x, y) {{ delay {body} }}
topology {{ node host = box }}
stream flow {{ traffic N * 1 packet/s; at host {{ c({one}, {other}) }} }}
"""


@settings(max_examples=examples(60), deadline=None)
@given(_bodies)
def test_a_component_is_refused_only_where_every_use_is(body: str) -> None:
    if not _errors(f"component c(x, y) {{ delay {body} }}"):
        return
    for one in _ARGUMENTS:
        for other in _ARGUMENTS:
            assert _errors(_USED.format(body=body, one=one, other=other)), (body, one, other)
