"""Names from elsewhere, what cannot be, and what nothing uses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from helpers.specs import PRELUDE, at, load, lowered
from qps.compiler.diagnostics.diagnostic import Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_file, check_source
from qps.compiler.syntax import ast

# -- names from elsewhere -------------------------------------------------------------


class Texts:
    """An importer of texts by name."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def open(self, module: ast.Name | ast.Text, importing: Source) -> Outcome[Source]:
        name = module.text if isinstance(module, ast.Name) else module.value
        return Outcome(Source(name, self.texts[name]), ())

    def data(self, file: ast.Text, importing: Source) -> Outcome[str]:
        return Outcome(self.texts[file.value], ())


HARDWARE = """
unit score of rating
param clock = 10
param spare = clock * 2 score
machine slow { cpu 10 score }
machine fast { cpu spare }
network wire { rate 1 Mbit/s }
costs measured on slow
component work { cpu 10 ms/packet }
func twice(x) = x * 2
option extra = off
let pace = twice(clock) / 4 * 1 packet/s
"""

USING = """
users N in 1..100
topology { node host = hw.fast }
stream flow for each host { traffic hw.pace; at host { hw.work; hw.work if hw.extra } }
"""


def imported(text: str, *settings: str, **modules: str) -> LoadGraph:
    outcome = check_source(Source("main.qps", text), Texts(**modules))
    assert outcome.value is not None, outcome.diagnostics
    return lower(outcome.value.model, outcome.value.configuration(None, settings))


def test_a_module_brings_all_that_it_declares() -> None:
    text = "use hardware as hw\n" + USING
    # 5 packet/s at 10 ms on a machine twice as fast
    assert load(imported(text, hardware=HARDWARE), "host.cpu", 1) == Fraction("0.025")
    changed = imported(text, "hw.clock = 20", "hw.extra = on", hardware=HARDWARE)
    # 10 packet/s, two steps, four times as fast
    assert load(changed, "host.cpu", 1) == Fraction("0.05")


def test_modules_use_modules() -> None:
    text = "use middle as hw\n" + USING.replace("hw.", "hw.deep.")
    graph = imported(text, middle="use hardware as deep", hardware=HARDWARE)
    assert load(graph, "host.cpu", 1) == Fraction("0.025")


def test_a_module_by_two_names_is_one_module() -> None:
    text = "use middle\nuse hardware as hw\n" + USING
    graph = imported(text, "hw.clock = 20", middle="use hardware", hardware=HARDWARE)
    assert load(graph, "host.cpu", 1) == Fraction("0.025")


def test_costs_of_a_module_are_its_own() -> None:
    # `costs measured on` holds for the components of its own module only
    text = "use hardware as hw\ncomponent mine { cpu 10 ms/packet }\n" + USING.replace(
        "hw.work;", "mine;"
    )
    assert load(imported(text, hardware=HARDWARE), "host.cpu", 1) == Fraction("0.05")


def test_a_file_is_used_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hardware.qps").write_text('use "more/units.qps" as u\n' + HARDWARE)
    (tmp_path / "parts" / "more").mkdir()
    (tmp_path / "parts" / "more" / "units.qps").write_text("param deep = 1")
    text = 'use "parts/hardware.qps" as hw\n' + USING
    (tmp_path / "main.qps").write_text(text)
    spec = check_file(tmp_path / "main.qps")
    assert spec.value is not None, spec.diagnostics
    graph = lower(spec.value.model, spec.value.configuration())
    assert load(graph, "host.cpu", 1) == Fraction("0.025")


def test_a_change_of_place_keeps_or_changes_the_count() -> None:
    text = PRELUDE + "topology { node web = box * 2\n node user = box * N }\n" + (
        "stream flow for each user { traffic 1 packet/s; at web { work } }"
    )  # fmt: skip
    assert load(lowered(text, "web = box"), "web.cpu", 6) == Fraction("0.03")
    assert load(lowered(text, "web = box * 3"), "web.cpu", 6) == Fraction("0.02")
    assert load(lowered(text, "web = box * N"), "web.cpu", 6) == Fraction("0.01")
    assert load(lowered(text, "user = box * 2 * N"), "web.cpu", 6) == Fraction("0.06")


# -- what cannot be -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "component bad { keep max(2, 3) }",
        "option o = on\ncomponent bad { keep if o then 3 else 1 }",
        "component bad { active count(host) }",
        "component bad { keep exp(1) }",
        "component bad { keep sqrt(2) }",
        "component bad { keep 2 ^ (1/2) }",
        "component bad { keep -exp(-3) }",
        "param p = 3\ncomponent bad { keep ln(p) }",
        "component bad { delay (0 - exp(1)) * 1 ms }",
        "component bad { active log2(N) / 2 }",
    ],
)
def test_shares_beyond_one_are_refused_however_they_are_written(text: str) -> None:
    spec = PRELUDE + "topology { node host = box * 2 }\n" + text
    outcome = check_source(
        Source("s", spec + "\nstream flow in all { traffic 1 packet/s; at host { bad; work } }")
    )
    assert [d.code.id for d in outcome.diagnostics] == ["QPS0309"]


@pytest.mark.parametrize(
    "text",
    [
        "component good { keep exp(-1) }",
        "component good { keep sqrt(1) }",
        "component good { keep exp(0) }",
        "component good { keep 4 ^ (1/2) / 2 }",
        "component good { keep cos(1) ^ 2 }",
        "param p = 3\ncomponent good { keep ln(p) / 2 }",
        "component good { keep if exp(1) > 3 then 7 else 1 }",
    ],
)
def test_shares_that_are_not_rational_may_be_in_bounds(text: str) -> None:
    spec = PRELUDE + "topology { node host = box }\n" + text
    outcome = check_source(
        Source("s", spec + "\nstream flow { traffic 1 packet/s; at host { good; work } }")
    )
    assert not [d for d in outcome.diagnostics if d.is_error]


@pytest.mark.parametrize(
    ("cores", "efficiency", "effective"),
    [(1, "90 %", 1.0), (8, "90 %", 8 * 0.9**3), (8, "100 %", 8.0), (6, "95 %", 5.254938)],
)
def test_cores_do_less_together(cores: int, efficiency: str, effective: float) -> None:
    """c cores do the work of c * e^(log2 c); 6 * 0.95^2.58496 = 5.25494."""
    spec = check_source(
        Source(
            "cores.qps",
            f"""users N in 1..9
param e = {efficiency}
machine box {{ cpu {cores} core, efficiency {efficiency} }}
machine vary {{ cpu {cores} core, efficiency e }}
component work {{ cpu 10 ms/packet }}
topology {{ node host = box; node other = vary }}
stream flow for each host {{ traffic N * 1 packet/s; at host {{ work }} }}
stream again {{ traffic N * 1 packet/s; at other {{ work }} }}
""",
        )
    ).value
    assert spec is not None
    graph = lower(spec.model, spec.configuration())
    for name in ("host.cpu", "other.cpu"):
        load = graph.at(3).number(graph.resources[name].load)
        assert load == pytest.approx(0.03 / effective, rel=1e-7)


def test_the_share_of_a_stream_in_a_link() -> None:
    graph = lowered(
        PRELUDE + "topology { node host = box\n node end = box\n link net = wire between host, end }\n"
        "stream big { traffic 30 packet/s, 100 byte/packet; at host { }\n at end { } }\n"
        "stream small { traffic 10 packet/s, 100 byte/packet; at host { }\n at end { } }\n"
        "measure part = share(small, net)"
    )  # fmt: skip
    assert at(graph, graph.measures["part"].value, 1) == Fraction(1, 4)


# -- what nothing uses ----------------------------------------------------------------

USES = [
    ("", {"pace"}),
    ("measure m = pace", set()),
    ("let half = pace / 2", set()),
    ("require { pace >= 1 packet/s ideal 9 packet/s }", set()),
    ("figure f { over N in 1..9; line pace }", set()),
    ("param other = 2 packet/s in 1 packet/s..pace\nmeasure m = other", set()),
    ("param other = pace", {"other"}),
    ("scenario s { pace = 4 packet/s }", {"pace"}),
    ('expect e { largest_acceptable > 1 with pace = 4 packet/s; source "x" }', {"pace"}),
    ("figure f { over pace in 1..9 packet/s; line host.cpu.load with N = 3 }", {"pace"}),
    ("machine spare { cpu 2 core }\nnetwork air { rate 1 Mbit/s }\nmeasure m = pace", set()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "unused"), USES)
def test_parameters_that_nothing_depends_on(text: str, unused: set[str]) -> None:
    source = PRELUDE + "param pace = 3 packet/s\ntopology { node host = box }\n" + text
    source += "\nstream flow { traffic N * 1 packet/s; at host { work } }\n"
    found = check_source(Source("spec.qps", source)).diagnostics
    sentence = {d.message.split("`")[1] for d in found if d.code.id == "QPS0502"}
    assert sentence & {"pace", "other", "spare", "air"} == unused


@pytest.mark.parametrize(
    ("machine", "more", "unused"),
    [
        ("cpu 1 core; disk 8 Mbit/s", "", {"disk"}),
        ("cpu 1 core; disk 8 Mbit/s; ram 8 GB", "", {"disk", "ram"}),
        ("cpu 1 core; disk 8 Mbit/s, idle 3 %", "", set()),
        ("cpu 1 core; disk 8 Mbit/s", "component save { disk 1 byte/packet }", {"disk"}),
        ("cpu 1 core; disk 8 Mbit/s", "scenario s { spare = mine }", set()),
    ],
)
def test_resources_that_no_step_loads(machine: str, more: str, unused: set[str]) -> None:
    source = PRELUDE + "machine mine { " + machine + " }\n" + more
    source += "\nmachine disk_only { cpu 1 core; disk 8 Mbit/s }\n"
    source += "component store { disk 1 byte/packet }\n"
    source += "topology { node host = mine; node spare = disk_only }\n"
    source += (
        "stream flow for each host { traffic N * 1 packet/s, 9 byte/packet; at host { work } }\n"
    )
    source += "stream kept { traffic N * 1 packet/s, 9 byte/packet; at spare { work; store } }\n"
    found = check_source(Source("spec.qps", source)).diagnostics
    text = {d.message.split("`")[1] for d in found if "no component uses" in d.message}
    assert text == unused
