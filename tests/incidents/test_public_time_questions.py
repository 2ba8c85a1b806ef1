"""The answers to fifteen public questions about time (laboratory/questions/times.md) are still so.

Each spec is solved again; its numbers are those of the log, and within 10 % of the simulated ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import qps
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import load
from qps.solver.incidents.fluid_course import fluid_course
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_model import incident_system
from qps.solver.incidents.incident_result import IncidentAnswer

QUESTIONS = Path(__file__).parents[2] / "laboratory" / "questions"
UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "%": 0.01, "/s": 1.0, "": 1.0}
NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?) ?(ms\b|min\b|s\b|h\b|%|/s)?")
PRINTED = 0.006
"""What is left out of a number with three digits."""
RIGHT = 0.1


def _spec(name: str) -> Path:
    return QUESTIONS / "times" / f"{name}.qps"


def _incident(name: str, at: int, *settings: str, incident: int = 0) -> IncidentAnswer:
    spec = load(_spec(name))
    happens = spec.model.incidents[incident]
    configuration = spec.configuration((), settings)
    return incident_answer(spec.model, configuration, happens, at, advice=False)


def _worst_backlog(answer: IncidentAnswer, place: int = 0) -> float:
    return max(point.backlogs[place] for point in answer.course.points)


def _worst_response(answer: IncidentAnswer) -> float:
    return max(one.worst for one in answer.course.streams)


def _places(answer: IncidentAnswer) -> dict[str, int]:
    return {one.name: place for place, one in enumerate(answer.system.stations)}


def _months(name: str) -> int:
    """Return how many months after the first one it holds."""
    found = qps.load(_spec(name)).solve().calendar
    assert found is not None
    return [one.date for one in found.months].index(str(found.holds_until))


def _servers(name: str, users: int, without: str = "", **settings: str) -> float:
    """Return how many servers a spec needs, `without` one of its lines."""
    text = _spec(name).read_text()
    assert without in text
    (found,) = qps.loads(text.replace(without, "")).size(users, set=settings).resources
    assert found.machines is not None
    return float(found.machines.takes or found.machines.has)


def _first_with(name: str, at: int, machines: int) -> float:
    spec = load(_spec(name))
    configuration = spec.configuration((), ())
    system = incident_system(spec.model, configuration, spec.model.incidents[0], at)
    points = fluid_course(system, until=0).points
    return next(point.at for point in points if point.machines[0] >= machines)


def question_1() -> list[float]:
    return [_months("01_black_friday"), _servers("01_black_friday", 46_524, date="2027-11")]


def question_2() -> list[float]:
    return [_months("02_when_to_add"), _servers("02_when_to_add", 2_676)]


def question_3() -> list[float]:
    found = qps.load(_spec("03_peak_to_mean")).solve(set={"daily": 10_000_000})
    (peak,), (cpu,), (p99,) = found.measures, found.resources, found.requirements
    return [peak.value or 0, cpu.utilization_at_limit or 0, p99.value_at_limit or 0]


def question_4() -> list[float]:
    found = qps.load(_spec("04_friday_night")).solve(set={"records": 1_036_800}).course
    assert found is not None
    friday, usual = sorted(found.backlogs, key=lambda one: -one.worst)[:2]
    assert friday.start // (24 * 60) == 4
    return [60 * ((one.cleared_at or 0) - one.start) for one in (usual, friday)]


def question_5() -> list[float]:
    return [
        _worst_backlog(_incident("05_slower_than_producers", 4_000, incident=one)) for one in (0, 1)
    ]


def question_6() -> list[float]:
    found = _incident("06_flash_sale", 100)
    places = _places(found)
    return [
        _worst_backlog(found, places["consumer.cpu"]) / 0.001,
        _worst_backlog(found, places["db.cpu"]) / 0.010,
        found.course.cleared_at,
    ]


def question_7() -> list[float]:
    found = _incident("07_four_servers_at_80", 320)
    return [4 * _worst_backlog(found) / 0.010, _worst_response(found), found.course.cleared_at]


def question_8() -> list[float]:
    spec = load(_spec("08_shared_buffer"))
    graph = lower(spec.model, spec.configuration((), ()))
    found = _incident("08_four_hosts_at_75", 300)
    (backlog,) = found.random_backlogs
    return [
        graph.at(300).number(graph.streams["call"].mean_latency),
        4 * backlog.worst / 0.010,
        backlog.cleared_at,
    ]


def question_9() -> list[float]:
    without = "survive any one of web"
    return [
        _servers("09_one_can_fail", 220, without=without),
        _servers("09_one_can_fail", 220),
        _servers("09_two_can_fail", 220),
    ]


def question_10() -> list[float]:
    without = "survive any one of web"
    name = "10_five_are_needed"
    return [_servers(name, 370, without=without), _servers(name, 370)]


def question_11() -> list[float]:
    return [_first_with("11_ten_minutes_to_ten_pods", 4, 10)]


def question_12() -> list[float]:
    found = _incident("12_five_times_the_load", 75)
    enough = _first_with("12_five_times_the_load", 75, 50)
    return [enough, 10 * _worst_backlog(found) / 0.1, found.course.cleared_at]


def question_13() -> list[float]:
    found = [_incident("13_brownout", 600, *settings) for settings in ((), ("wait = 500 ms",))]
    assert not any(one.course.returns for one in found)
    return [one.course.lost for one in found]


def question_14() -> list[float]:
    points = _incident("14_errors_at_once", 1_000).course.points
    return [max(one.offered + one.retries for one in points if 5 <= one.at < 6)]


def question_15() -> list[float]:
    found = [_incident("15_thirteen_hours", 10, *settings) for settings in ((), ("times = 3",))]
    return [one.course.cleared_at for one in found]


QUESTION: tuple[Callable[[], list[float]], ...] = (
    *(question_1, question_2, question_3, question_4, question_5),
    *(question_6, question_7, question_8, question_9, question_10),
    *(question_11, question_12, question_13, question_14, question_15),
)


@cache
def _log() -> dict[int, list[str]]:
    """Return the cells of the log by the number of the question."""
    lines = (QUESTIONS / "times.md").read_text().partition("## Answers")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {int(row[0]): row for row in rows if row[0].isdecimal()}


def _numbers(cell: str) -> list[float]:
    """Return the numbers of a cell in s and parts of 1; what is in brackets is not the answer.

    >>> _numbers("3.6 h; 4.68 h (06:41); 78.7 %; no; 106,900 and 15.1 ms")
    [12960.0, 16848.0, 0.787, 106900.0, 0.0151]
    """
    found = NUMBER.findall(re.sub(r"\([^)]*\)", "", cell))
    return [round(float(value.replace(",", "")) * UNITS[unit], 12) for value, unit in found]


@pytest.mark.parametrize("number", range(1, 16))
def test_a_public_question_is_answered_as_logged_and_as_simulated(number: int) -> None:
    _, _, logged, simulated, *_ = _log()[number]
    found = QUESTION[number - 1]()
    assert found == pytest.approx(_numbers(logged), rel=PRINTED), "run the question again"
    assert found == pytest.approx(_numbers(simulated), rel=RIGHT)


def test_no_question_is_left_out_of_the_log() -> None:
    assert sorted(_log()) == list(range(1, 16))
    assert not any("miss" in cell for row in _log().values() for cell in row)
