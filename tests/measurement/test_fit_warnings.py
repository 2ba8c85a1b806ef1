"""What a spec with a fit is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.turn_table import TURN
from qps.cli import main
from qps.compiler.diagnostics import codes
from qps.compiler.pipeline import check_file
from qps.solver.answers.worst_mode import solve_model

RELAY = """users conns in 1..5_000
param pps = 90 packet/s in 1..1000 packet/s
param size = 960 byte/packet in 1..1500 byte/packet
machine vm { cpu 2 core, idle fit "runs.csv" }
component relay { cpu fit "runs.csv" measured on vm }
topology { node server = vm }
stream media { traffic conns * pps, size; at server { relay } }
"""

# A relay with 6.9 % idle: four runs, and two more of which one has a digit too few.
SLIP = """cpu in %,packet/s,byte/s
28.8,16000,3072000
70.2,48000,9216000
31.3,18000,17280000
78.5,54000,51840000
51.1,32000,6144000
57.7,3600,34560000
"""


def reported_of(folder: Path, table: str, spec: str = RELAY) -> list[tuple[str, str]]:
    (folder / "runs.csv").write_text(table)
    (folder / "relay.qps").write_text(spec)
    return [(d.code.slug, d.message) for d in check_file(folder / "relay.qps").diagnostics]


def test_a_slip_in_a_table_is_warned_of_where_the_table_is_used(folder: Path) -> None:
    poor, unsure = reported_of(folder, SLIP)
    assert (poor[0], unsure[0]) == ("poor-fit", "insignificant-demand")
    (found,) = (d for d in check_file(folder / "relay.qps").diagnostics if d.code is codes.POOR_FIT)
    assert found.notes[0].startswith("line 7 is an influential outlier (Cook's distance 3.4)")
    fixed = [slug for slug, _ in reported_of(folder, SLIP.replace("3600,", "36000,"))]
    assert fixed == ["insignificant-demand"]  # of the bytes


def test_a_rate_that_was_not_read_is_warned_of(folder: Path) -> None:
    table = "cpu in %,kpacket/s,kB/s\n28.8,16,3072\n70.2,48,9216\n31.3,18,17280\n78.5,54,51840\n"
    assert [slug for slug, _ in reported_of(folder, table)] == [
        "poor-fit",
        "insignificant-demand",
        "unused-rate",
    ]


def test_an_idle_load_that_nobody_has_is_warned_of(folder: Path) -> None:
    bare = RELAY.replace(', idle fit "runs.csv"', "")
    (dropped, _) = reported_of(folder, TURN, bare)
    assert dropped[0] == "missing-idle"
    assert "contains 7.92 % idle utilization, but `vm` declares none" in dropped[1]
    stated = RELAY.replace('idle fit "runs.csv"', "idle 0 %")
    assert [slug for slug, _ in reported_of(folder, TURN, stated)] == ["insignificant-demand"]


def test_test_and_solve_warn_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = 'expect many "many" { largest_acceptable > 1; source "here" }\n'
    reported_of(folder, SLIP, RELAY + claim)
    for command in ("check", "solve", "test"):
        main([command, "relay.qps"])
        assert "QPS0530" in capsys.readouterr().err


def test_one_table_for_two_costs_is_reported_once(folder: Path) -> None:
    twice = RELAY + 'component other { cpu fit "runs.csv" measured on vm }\n'
    twice = twice.replace("{ relay }", "{ relay; other }")
    slugs = [slug for slug, _ in reported_of(folder, SLIP, twice)]
    assert slugs.count("poor-fit") == 1


def beyond(folder: Path, spec: str, table: str = TURN) -> list[str]:
    (folder / "runs.csv").write_text(table)
    (folder / "relay.qps").write_text(spec)
    checked = check_file(folder / "relay.qps")
    assert checked.value is not None, checked.diagnostics
    solution = solve_model(checked.value.model, checked.value.configuration())
    found = (*checked.diagnostics, *solution.warnings)
    return [w.message for w in found if w.code is codes.BEYOND_MEASURED]


def test_sizes_and_rates_beyond_what_was_measured_are_reported(folder: Path) -> None:
    spec = RELAY.replace("1..5_000", "1..100_000")
    assert beyond(folder, spec) == []
    (size,) = beyond(folder, spec.replace("size = 960", "size = 60"))
    assert size.startswith("`relay` runs with 60 bytes/packet at server.cpu, but 192 to 960 were")
    assert beyond(folder, spec.replace("size = 960", "size = 160")) == []
    (rate, size) = beyond(folder, spec.replace("size = 960", "size = 1400"))
    assert rate.startswith("`relay` runs with 49,270,000 bytes/s at server.cpu, but at most 25,")
    assert "1,400 bytes/packet at server.cpu, but 192 to 960 were" in size
    # Measured up to 34.9 % load: at the answer it is 100 %.
    half = "cpu in %,packet/s\n8,0\n20,8000\n35,18000\n"
    (rate,) = beyond(folder, spec, half)
    assert rate.startswith("`relay` runs with 61,")
    assert rate.endswith("packets/s at server.cpu, but at most 18,000 were measured (`runs.csv`)")


def test_two_streams_are_requested_together(folder: Path) -> None:
    table = "cpu in %,packet/s\n8,0\n30,20000\n49,40000\n70,60000\n"
    one = RELAY.replace("1..5_000", "1..600")
    assert beyond(folder, one, table) == []
    two = one + "stream other { traffic conns * pps, size; at server { relay } }\n"
    assert beyond(folder, two, table) == []
    # Both on one machine: 108,000 packets a second; a target keeps neither from being asked.
    (rate,) = beyond(folder, two.replace("2 core", "2 core").replace("1..600", "600..601"), table)
    assert "runs with 108,000 packets/s" in rate


def test_what_is_elastic_is_requested_as_it_converges(folder: Path) -> None:
    table = "cpu in %,packet/s\n8,0\n30,20000\n49,40000\n70,60000\n"
    spec = RELAY.replace("pps = 90 packet/s in 1..1000 packet/s", "pps elastic 1..900 packet/s")
    assert beyond(folder, spec, table) == []


def test_another_machine_gets_the_place_of_the_step(folder: Path) -> None:
    spec = (
        RELAY.replace("cpu 2 core,", "cpu 2 core * 10 score,")
        + "unit score of rating\nmachine big { cpu 8 core * 12 score, idle 1 % }\n"
        "option server_is = one or other\n"
    )
    spec = spec.replace("server = vm", "server = big")
    (reported_,) = beyond(folder, spec)
    assert reported_.startswith(
        "`relay` was measured on `vm` (`runs.csv`) but runs on `big`, scaled by"
    )
    assert beyond(folder, spec.replace("{ relay }", "{ relay if server_is == other }")) == []
    own = spec.replace("measured on vm", "measured on vm; cpu 5 us/packet measured on big")
    assert beyond(folder, own) == []


def test_claims_that_ask_beyond_are_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = (
        'expect small "a" { largest_acceptable > 1 with size = 50 byte/packet; source "us" }\n'
        'expect few "b" { server.cpu.load < 9 with conns = 3, size = 60 byte/packet; '
        'source "us" }\n'
    )
    reported_of(folder, TURN, RELAY + claim)
    assert main(["test", "relay.qps"]) == 0
    err = capsys.readouterr().err
    assert err.count("QPS0534") == 1
    assert "runs with 50 bytes/packet at server.cpu" in err


def test_rates_that_are_proportional_are_the_cause_of_a_number_below_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a load test whose responses have one size: k6 prints bytes rounded."""
    rows = "65.9,148000,0.6\n177.2,397000,1\n354.7,794000,1.2\n505.7,1100000,1.4\n"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k6.csv").write_text(f"request/s,byte/s,cpu in %\n{rows}")
    assert main(["fit", "k6.csv", "--cores", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "are proportional (within" in printed
    assert "`qps fit k6.csv --cores 1 --per 'request'`" in printed
    assert main(["fit", "k6.csv", "--cores", "1", "--per", "request"]) == 0
    assert "below zero" not in capsys.readouterr().out
