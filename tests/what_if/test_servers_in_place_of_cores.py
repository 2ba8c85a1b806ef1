"""Servers in place of cores: as many as our own formula of M/M/c requires, paid as they stand."""

from __future__ import annotations

import json
import re
from math import exp, factorial
from pathlib import Path

import pytest

from qps.cli import main
from what_if.sized_shop import SHOP, sized

WEB = """
users N in 1..100_000
machine vm { cpu 4 core, queueing mmc; price 100 $/month }
component page { cpu 15 ms/request }
topology { node web = vm * 3 }
stream pages for each user { traffic 0.1 request/s; at web { page } }
require { pages.p95 <= 200 ms }
"""
CORES, SERVICE, LIMIT = 4, 0.015, 0.2


def _over(rate: float) -> float:
    """Return the chance that a request of M/M/4 takes longer than the limit."""
    load = rate * SERVICE
    if load >= CORES:
        return 1.0
    term = load**CORES / factorial(CORES) * CORES / (CORES - load)
    waits = term / (sum(load**k / factorial(k) for k in range(CORES)) + term)
    # A wait is exponential at this rate, after it the service.
    left, served = (CORES - load) / SERVICE, 1 / SERVICE
    both = (served * exp(-left * LIMIT) - left * exp(-served * LIMIT)) / (served - left)
    return waits * both + (1 - waits) * exp(-served * LIMIT)


def _servers(users: int, lost: int) -> int:
    return next(n for n in range(3, 99) if _over(users * 0.1 / (n - lost)) <= 0.05)


@pytest.mark.parametrize("users", [6010, 7581, 9100, 10_600, 13_000])
@pytest.mark.parametrize("survive", ["", "survive any one of web\n"])
def test_servers_are_enough_for_all_requirements_in_all_modes(
    users: int, survive: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "web.qps"
    path.write_text(WEB + survive)
    takes = _servers(users, lost=1 if survive else 0)
    assert main(["solve", str(path), "--users", f"{users}", "--format", "json"]) == 0
    (cpu,) = json.loads(capsys.readouterr().out)["resources"]
    assert cpu["machines"]["takes"] == takes
    month = 365.25 * 86_400 / 12
    assert cpu["machines"]["price"] * month == pytest.approx(100 * takes)
    assert main(["solve", str(path), "--users", f"{users}"]) == 0
    settings = re.findall(r"--set '(.+)'", capsys.readouterr().out)
    servers = [one for one in settings if one.startswith("web = ")]
    assert servers == ([f"web = vm * {takes}"] if takes > 3 else [])
    for setting in settings:
        assert main(["solve", str(path), "--set", setting, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["capacity"] >= users


def test_servers_that_support_nobody_are_not_printed() -> None:
    # More boxes take longer to agree, more cores do not.
    apart = "param boxes = 3 in 1..99\nmeasure apart = boxes * 1 ms\nrequire { apart <= 3 ms }\n"
    sizing = sized(WEB.replace("vm * 3", "vm * boxes") + apart, 10_600)
    assert sizing.is_supported
    assert [one.machines for one in sizing.needed] == [None]


def test_an_alternative_has_all_that_is_changed_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.qps"
    path.write_text(SHOP)
    assert main(["solve", str(path), "--users", "3100"]) == 0
    _, _, alternative = capsys.readouterr().out.partition("Alternative")
    settings = re.findall(r"--set '(.+)'", alternative)
    assert settings == ["web = box * 4", "line.rate = 1.24 Gbit/s"]
    changes = [part for one in settings for part in ("--set", one)]
    assert main(["solve", str(path), *changes, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["capacity"] >= 3100
