"""Ports of a switch are one line, or one phrase, where a question is turned round, too."""

from __future__ import annotations

import re
from pathlib import Path

from helpers.answers import answer_of
from helpers.specs import PRELUDE, checked
from qps.compiler.pipeline import load
from qps.reports.text.changes.inverse_text import inverse_text
from qps.reports.text.changes.sizing_text import sizing_text
from qps.reports.text.solutions.answer_text import solve_text
from qps.solver.what_if.inverse import solve_for
from qps.solver.what_if.sizing import size

SHOP = Path(__file__).parents[1] / "applications" / "fifteen_services.qps"


def test_demands_list_a_switch_one_time() -> None:
    spec = load(SHOP)
    text = sizing_text(size(spec.model, spec.configuration(), 30_000), "shop", width=200)
    assert "fabric.gateway.out, busiest of 30 ports" in text
    assert "28 ports of `fabric`" in text
    assert len(re.findall(r"\bfabric\b", text)) == 2
    assert "edge.client.in" in text, "two ports and their other ends are listed one by one"


def test_ports_that_take_more_are_reported_by_themselves() -> None:
    text = SHOP.read_text(encoding="utf-8").replace("rate 10 Gbit/s", "rate 20 Mbit/s", 1)
    spec = checked(text)
    sentence = sizing_text(size(spec.model, spec.configuration(), 30_000), "shop", width=200)
    (line,) = re.findall(r"^ *fabric.gateway.out .*", sentence, re.MULTILINE)
    assert "fullest" not in line
    assert "busiest of 24 other ports" in sentence
    assert "with more capacity for auth.cpu and 6 ports of fabric" in sentence


def test_values_that_support_users_list_a_switch_one_time() -> None:
    spec = load(SHOP)
    configuration = spec.configuration()
    text = inverse_text(solve_for(spec.model, configuration, "auth.cpu.cores", 25_000), width=1000)
    assert "28 ports of `fabric`" in text
    assert len(re.findall(r"\bfabric\b", text)) == 1


def _switches(count: int) -> str:
    """Return a spec with so many switches, each of which has four ports that are loaded."""
    numbers = range(count)
    links = "".join(f"node s{i} = box\n link l{i} = lan between client, s{i}\n" for i in numbers)
    visits = "".join(f"at s{i} {{ work }}\n at client {{ }}\n" for i in numbers)
    return PRELUDE + (
        "network lan { switched; rate 1 Gbit/s }\n"
        f"topology {{\n node client = box * 2\n{links}}}\n"
        "stream ask in all {\n traffic N * 1 packet/s, 100 byte/packet\n at client { }\n"
        f"{visits}}}\nrequire {{ ask.latency <= 1 s }}\n"
    )


def test_of_many_small_switches_each_is_reported_once() -> None:
    for count, is_once in ((3, False), (4, True)):
        spec = checked(_switches(count))
        text = solve_text(answer_of(spec), "switches")
        assert ("busiest of 4 ports" in text) is is_once
        for link in range(count):
            lines = re.findall(rf"^  l{link}\.", text, re.MULTILINE)
            assert (len(lines) < 4) is is_once
            assert (f"4 ports of `l{link}`" in text) is is_once
