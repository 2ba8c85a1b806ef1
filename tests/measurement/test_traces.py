"""Traces: what is recovered from them, how they are read, how they are played out."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qps
from oracles import plain_replay
from oracles.plain_replay import Packet
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.measurement.recordings import Recording, recording_of
from qps.compiler.measurement.trace_files import read_columns
from qps.solver.traces.recorded_jitter import (
    RecordedTrace,
    as_trace,
    best_buffer,
    buffer_for,
    compensation_curve,
    correlations,
    gaps,
    load_trace,
    measures,
)
from qps.solver.traces.replay import Thresholds, expanding_time, ignoring_late, monitoring_queue

MS = Fraction(1, 1000)
EXAMPLES = Path(__file__).parents[2] / "specs" / "traces"


def recorded(
    text: str, period: Fraction | None = 160 * MS, unit: Fraction | None = MS
) -> Recording:
    return recording_of(read_columns(text, unit, 10_000), period)


def trace(text: str, period: Fraction | None = 160 * MS) -> RecordedTrace:
    return as_trace("text", recorded(text, period))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "some.csv"
    path.write_text(text, encoding="utf-8")
    return path


# A packet every 160 ms; of each four the last comes 40 ms late: every 4th of 400.
LATE = "arrival\n" + "".join(f"{160 * i + (40 if i % 4 == 3 else 0)}\n" for i in range(400))


# -- measures ------------------------------------------------------------------------------


def test_a_steady_stream_has_no_jitter() -> None:
    text = measures(trace("arrival\n" + "".join(f"{160 * i + 7}\n" for i in range(50))), 0 * MS)
    assert text.longest == text.mean == 0.16
    assert (text.range, text.variance, text.standard_deviation) == (0, 0, 0)
    assert (text.absolute_deviation, text.gaps, text.area) == (0, 0, 0)


def test_a_known_jitter_is_recovered_exactly() -> None:
    # 399 times between packets: 100 of 200 ms, 99 of 120 ms, 200 of 160 ms.
    found = recorded(LATE)
    mean = Fraction(100 * 200 + 99 * 120 + 200 * 160, 399)
    squares = 100 * (200 - mean) ** 2 + 99 * (120 - mean) ** 2 + 200 * (160 - mean) ** 2
    off = 100 * (200 - mean) + 99 * (mean - 120) + 200 * abs(160 - mean)
    assert found.variance == squares / 398 * MS**2
    assert found.absolute_deviation == off / 399 * MS
    assert (found.range, found.longest, found.mean) == (80 * MS, 200 * MS, mean * MS)
    assert found.area == 10 * MS
    assert found.area_within(20 * MS) == 5 * MS
    assert found.late(Fraction(399, 10) * MS) == Fraction(1, 4)
    assert found.late(40 * MS) == 0
    assert found.buffer(Fraction(1, 4)) == 0
    assert found.buffer(Fraction(24, 100)) == 40 * MS
    result = measures(trace(LATE), 39 * MS)
    assert result.variance == pytest.approx(float(found.variance), rel=1e-12)
    assert result.standard_deviation == pytest.approx(float(found.variance) ** 0.5, rel=1e-12)
    assert result.gaps == pytest.approx(0.25 / 0.16)
    assert result.total_absolute_deviation == pytest.approx(float(off * MS))


def test_the_two_samples_of_the_thesis() -> None:
    # Claypool 1997, section 3.3: the same range, the second one more dispersed.
    def sample(*between: int) -> Recording:
        times = np.cumsum([0, *between]).tolist()
        return recorded("arrival\n" + "\n".join(map(str, times)), 15 * MS)

    one, other = sample(10, 15, 15, 15, 20), sample(10, 10, 15, 20, 20)
    assert one.range == other.range == 10 * MS
    assert (one.variance, other.variance) == (Fraction(25, 2) * MS**2, 25 * MS**2)


def test_a_lost_packet_is_a_gap_at_any_buffer_and_shifts_nothing() -> None:
    text = "seq,arrival\n" + "".join(f"{i},{160 * i}\n" for i in range(100) if i not in (7, 8))
    found = recorded(text)
    assert found.loss == Fraction(2, 100)
    assert set(found.lateness) == {0}
    assert found.gaps(10 * MS) == Fraction(2, 100)
    assert found.late(0 * MS) == 0
    assert found.buffer(Fraction(1, 100)) is None
    assert found.buffer(Fraction(2, 100)) == 0


def test_reordered_and_repeated_packets() -> None:
    found = recorded("sequence,arrival\n1,0\n3,325\n2,330\n2,350\n4,480\n")
    assert found.duplicates == 1
    assert found.lateness == (0, 0, 5, 170)


def test_clocks_that_differ_do_no_harm() -> None:
    apart = "sent, s,arrival, ms\n0,1e6\n0.16,1000165\n0.32,1000320\n"
    found = recorded(apart, None, None)
    assert found.period * found.tick == 160 * MS
    assert [late * found.tick for late in found.lateness] == [0, 0, 5 * MS]


def test_correlations_are_pearsons_and_a_constant_has_none() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=50), rng.normal(size=50)
    table = correlations([one.tolist(), (2 * one + 1).tolist(), (other - one).tolist(), [3.0] * 50])
    assert table[0][1] == pytest.approx(1)
    expected = ((one - one.mean()) * (other - one - (other - one).mean())).mean()
    assert table[0][2] == pytest.approx(expected / one.std() / (other - one).std())
    assert np.isnan(table[3]).all()


# -- buffers -------------------------------------------------------------------------------

_arrivals = st.lists(st.integers(0, 2000), min_size=3, max_size=60)


@given(_arrivals, st.integers(1, 500), st.integers(1, 100))
def test_the_best_buffer_is_better_than_any_other(
    late: list[int], latency: int, allowed: int
) -> None:
    text = "seq,arrival\n" + "".join(f"{i},{100 * i + x}\n" for i, x in enumerate(late))
    found = trace(text, 100 * MS)
    limit, share = latency * MS, Fraction(allowed, 100)
    best = best_buffer(found, limit, share)
    for buffer in range(0, 2001, 7):
        left = gaps(found, buffer * MS)
        assert np.hypot(buffer / latency, left / float(share)) >= best.distance - 1e-12
    assert gaps(found, best.buffer) == best.gaps


@given(_arrivals, st.integers(0, 100))
def test_a_buffer_for_a_share_of_gaps_is_the_smallest(late: list[int], allowed: int) -> None:
    text = "seq,arrival\n" + "".join(f"{i},{100 * i + x}\n" for i, x in enumerate(late))
    found, share = recorded(text, 100 * MS), Fraction(allowed, 100)
    buffer = found.buffer(share)
    assert buffer is not None
    assert found.gaps(buffer) <= share
    if buffer > 0:
        assert found.gaps(buffer - found.tick / 2) > share
    assert buffer_for(trace(text, 100 * MS), share) == pytest.approx(float(buffer))


@given(_arrivals)
def test_arrays_say_what_exact_numbers_say(late: list[int]) -> None:
    text = "seq,arrival\n" + "".join(f"{i},{100 * i + x}\n" for i, x in enumerate(late))
    exact, found = recorded(text, 100 * MS), trace(text, 100 * MS)
    result = measures(found, 77 * MS)
    for name in ("range", "longest", "mean", "variance", "absolute_deviation", "area"):
        assert getattr(result, name) == pytest.approx(float(getattr(exact, name)), rel=1e-9), name
    assert result.gaps * 0.1 == pytest.approx(float(exact.gaps(77 * MS)))
    buffers, shares = compensation_curve(found)
    for buffer, share in zip(buffers, shares, strict=True):
        near = Fraction(buffer).limit_denominator(10**6)
        assert share == pytest.approx(float(exact.gaps(near)))
    # The area under the whole curve is the mean lateness; steps add up to it.
    steps = np.append(np.diff(buffers), 0)
    assert float((steps * shares).sum()) == pytest.approx(float(exact.area))


# -- reading -------------------------------------------------------------------------------

_numbers = st.decimals(0, 9999, places=None, allow_nan=False).map(
    lambda d: f"{d:.{abs(d.as_tuple().exponent) % 5}f}"  # type: ignore[operator]
)


@given(st.lists(_numbers, min_size=3, max_size=40), st.booleans(), st.booleans())
def test_plain_files_are_read_as_the_exact_reader_reads_them(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], numbered: bool, windows: bool
) -> None:
    cells = sorted(cells, key=float)
    lines = [f"{2 * i},{cell}" for i, cell in enumerate(cells)] if numbered else cells
    end = "\r\n" if windows else "\n"
    text = end.join(['sequence,"arrival, ms"' if numbered else "arrival_ms", *lines]) + end
    path = tmp_path_factory.mktemp("t") / "some.csv"
    path.write_bytes(text.encode())
    fast = load_trace(path, 33 * MS, None)
    slow = as_trace("", recorded(text.replace("\r", ""), 33 * MS, None))
    for name in ("places", "scheduled", "arrivals", "lateness", "between"):
        one, other = getattr(fast, name), getattr(slow, name)
        scale = float(fast.tick / slow.tick) if name != "places" else 1.0
        assert np.allclose(one * scale, other, rtol=1e-12), name
    assert (fast.sent, fast.period * fast.tick) == (slow.sent, slow.period * slow.tick)


BAD = [
    ("", "", "the file is empty"),
    ("arrival\n1\n", "--unit ms", "1 packet arrived, and jitter needs at least 3"),
    ("arrival\n1\n2\n3\n", "", ":1: the arrival times have no unit"),
    ("arrival\n1\n2\nx\n", "--unit ms", ":4: `x` is not a number"),
    ("arrival\n1\nnan\n3\n", "--unit ms", ":3: `nan` is not a number"),
    ("arrival\n1\ninf\n3\n", "--unit ms", ":3: `inf` is not a number"),
    ("arrival\n1\n1,5\n3\n", "--unit ms", ":3: 2 cells, but 1 columns"),
    ('seq,arrival\n1,2\n2,"1,5"\n', "--unit ms", ":3: `1,5` is not a number"),
    ("arrival\n1\n3\n2\n", "--unit ms", ":4: this packet arrived before the previous one"),
    ("arrival,size\n1,2\n", "--unit ms", ":1: unknown column `size`"),
    ("arrival,time\n1,2\n", "--unit ms", ":1: two columns contain the arrival times"),
    ("sent\n1\n", "--unit ms", ":1: the column of arrival times is missing"),
    ("arrival (furlong)\n1\n", "", ":1: `furlong` is not a unit of time"),
    ("1,2\n3,4\n", "--unit ms", ":1: the file has no header with column names"),
    ("arrival;sent\n1;2\n", "--unit ms", ":1: the columns are separated by semicolons"),
    ("seq,arrival\n1.5,2\n2,3\n3,4\n", "--unit ms", ":2: a sequence number must be a whole number"),
    ("seq,arrival\n1,2\n,3\n3,4\n", "--unit ms", ":3: the sequence number is missing"),
    ("seq,arrival\n1,2\n2,3\n9000000,4\n", "--unit ms", ":4: sequence numbers span 9,000,000"),
    (
        "seq,arrival\n65534,2\n65535,3\n0,4\n1,5\n",
        "--unit ms",
        ":4: the sequence numbers start again: 0 follows 65535",
    ),
    (
        "sent,arrival\n1,2\n3,4\n2,5\n",
        "--unit ms",
        ":4: this packet was sent before its predecessor",
    ),
    ("sent,arrival\n1,2\n,4\n2,5\n", "--unit ms", ":3: the sending time is missing"),
    ("arrival\n" + "1" * 70 + "\n", "--unit ms", ":2: a cell is longer than 60 characters"),
    ("arrival\n1e20\n2e20\n3e20\n", "--unit s", "its times have too many digits"),
    ("sequence (ms),arrival\n1,2\n", "--unit ms", ":1: sequence numbers have no unit"),
    ('arrival\n1\n"2\n', "--unit ms", "unexpected end of data"),
]


@pytest.mark.parametrize(("text", "flags", "message"), BAD, ids=[case[2] for case in BAD])
def test_a_bad_file_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, flags: str, message: str
) -> None:
    path = written(tmp_path, text)
    assert main(["trace", str(path), "--period", "160ms", *flags.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{path}{message}" in printed.err or message in printed.err
    assert "help: " in printed.err


def test_a_period_must_be_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "arrival, ms\n1\n2\n3\n")
    assert main(["trace", str(path)]) == 2
    assert "such as `--period 160ms`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--period 160", "`--period 160` is not a time (s)"),
        ("--period 0ms", "`--period` must be above zero"),
        ("--gaps 0%", "`--gaps 0%` is not a share above zero"),
        ("--gaps 3ms", "`--gaps 3ms` is not a plain number"),
        ("--buffer -1ms", "`--buffer` must not be below zero"),
        ("--latency 1Mbit", "`--latency 1Mbit` is not a time (s)"),
        ("--threshold nan", "`--threshold nan` is not a time (s)"),
    ],
)
def test_a_bad_flag_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    path = written(tmp_path, LATE)
    flag, value = flags.split()
    rest = [] if flag == "--period" else ["--period", "160ms"]
    assert main(["trace", str(path), "--unit", "ms", f"{flag}={value}", *rest]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_what_is_no_file_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["trace", str(tmp_path / name), "--period", "160ms"]) == 2
    assert "QPS0209" in capsys.readouterr().err


# -- replay --------------------------------------------------------------------------------


@st.composite
def recordings(draw: st.DrawFn) -> tuple[str, list[Packet]]:
    """Draw a file with losses, bursts and reordering, and the packets in it."""
    late = draw(st.lists(st.integers(0, 900), min_size=3, max_size=80))
    burst = draw(st.integers(0, len(late)))
    lost = draw(st.sets(st.integers(1, max(1, len(late) - 1)), max_size=len(late) // 4))
    stored = [i for i in range(len(late)) if i not in lost]
    late = [x + 3000 if burst <= i < burst + 8 else x for i, x in enumerate(late)]
    if len(stored) < 3:
        stored = list(range(len(late)))
    text = "seq,arrival\n" + "".join(f"{i},{100 * i + late[i]}\n" for i in stored)
    return text, [Packet(100 * i * MS, (100 * i + late[i]) * MS) for i in stored]


@given(recordings(), st.integers(0, 400))
def test_the_i_and_e_policies_are_those_of_a_plain_replay(
    drawn: tuple[str, list[Packet]], wait: int
) -> None:
    text, packets = drawn
    found, buffer = trace(text, 100 * MS), wait * MS
    shown, late = plain_replay.i_policy(packets, buffer)
    ignored = ignoring_late(found, buffer)
    assert (ignored.shown, ignored.late) == (shown, late)
    assert ignored.gaps == found.sent - shown
    waits, latencies = plain_replay.e_policy(packets, buffer)
    expanded = expanding_time(found, buffer)
    assert expanded.gaps == waits + found.lost
    assert expanded.longest_latency == pytest.approx(float(max(latencies)))
    assert expanded.last_latency == pytest.approx(float(latencies[-1]))
    assert expanded.mean_latency == pytest.approx(float(sum(latencies) / len(latencies)))


@given(recordings(), st.integers(0, 400), st.integers(1, 12), st.integers(1, 12))
def test_queue_monitoring_is_that_of_a_plain_replay(
    drawn: tuple[str, list[Packet]], wait: int, longest: int, shortest: int
) -> None:
    text, packets = drawn
    found = trace(text, 100 * MS)
    thresholds = Thresholds(100 * longest * MS, 100 * min(longest, shortest) * MS)
    limits = thresholds.in_periods(100 * MS)
    shortest_way = plain_replay.shortest_way(packets)
    discarded, empty, shown = plain_replay.queue_monitoring(
        packets, shortest_way + wait * MS, 100 * MS, limits
    )
    replay = monitoring_queue(found, wait * MS, thresholds)
    assert (replay.discarded, replay.gaps, replay.shown) == (discarded, empty, len(shown))
    latencies = [float(latency - shortest_way) for latency in shown]
    assert replay.mean_latency == pytest.approx(sum(latencies) / len(latencies))
    assert replay.longest_latency == pytest.approx(max(latencies))
    assert replay.last_latency == pytest.approx(latencies[-1])


def test_thresholds_halve_as_queues_grow() -> None:
    assert Thresholds().in_periods(Fraction(1, 15)) == (60, 30, 15, 7)
    assert Thresholds(Fraction(4), Fraction(1)).in_periods(Fraction(1, 10)) == (40, 20, 10)


def test_a_burst_is_followed_by_two_discards_as_in_figure_4_5() -> None:
    # Frames of 200 ms; after a burst two of them wait more than needed. As in the MTP paper's
    # figure 4.5 one is discarded when two have waited for some time, and the other one later.
    late = [0] * 20 + [399, 266, 133] + [0] * 277
    text = "seq,arrival\n" + "".join(f"{i},{200 * i + x}\n" for i, x in enumerate(late))
    found = as_trace("", recorded(text, Fraction(200, 1000)))
    replay = monitoring_queue(found, 0 * MS, Thresholds(60 * Fraction(200, 1000), Fraction(3)))
    assert (replay.gaps, replay.discarded, replay.shown) == (2, 2, 298)
    assert replay.longest_latency == pytest.approx(0.4)
    assert replay.last_latency == 0
    expanded = expanding_time(found, 0 * MS)
    assert expanded.last_latency == pytest.approx(0.399)  # the E-policy never catches up


# -- the command and the library -----------------------------------------------------------


def test_json_has_what_the_text_has(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = written(tmp_path, LATE)
    arguments = ["trace", str(path), "--period", "160ms", "--unit", "ms", "--buffer", "20ms"]
    assert main([*arguments, "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["schema"] == "qps/trace/1"
    assert output["correlations"] is None
    (one,) = output["traces"]
    assert one["jitter"]["area"] == 0.01
    assert one["curve"] == [{"buffer": 0, "gaps": 0.25}, {"buffer": 0.04, "gaps": 0}]
    assert one["best"] == {"buffer": 0.04, "gaps": 0, "distance": 0.04 / 0.23, "acceptable": True}
    assert [replay["policy"] for replay in one["replays"]] == [
        "I-policy", "E-policy", "queue monitoring",
    ]  # fmt: skip
    assert one["replays"][0]["late"] == 100
    view = qps.trace(path, period="160 ms", unit="ms", buffer="20 ms")
    assert view.traces[0].jitter.variance == one["jitter"]["variance"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert re.search(r"area +10 ms", text)
    assert main([*arguments, "--format", "markdown"]) == 0
    assert "| area | 10 ms |" in capsys.readouterr().out


def test_three_traces_are_correlated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    paths = []
    for index, spread in enumerate((5, 20, 60)):
        paths.append(tmp_path / f"{index}.csv")
        late = np.round(rng.exponential(spread, 200), 2)
        lines = [f"{i},{160 * i + x}" for i, x in enumerate(late.tolist())]
        paths[-1].write_text("\n".join(["sequence,arrival_ms", *lines]))
    assert main(["trace", *map(str, paths), "--period", "160ms", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    names = output["correlated"]
    assert names[0] == "range"
    table = np.array(output["correlations"], dtype=float)
    columns = [[t["jitter"][name] for t in output["traces"]] for name in names]
    stored = [i for i, c in enumerate(columns) if len(set(c)) > 1]
    expected = np.corrcoef(np.array(columns)[stored])
    assert table[np.ix_(stored, stored)] == pytest.approx(expected)


def test_limits_that_are_not_met_end_with_status_1(tmp_path: Path) -> None:
    path = written(tmp_path, LATE)
    arguments = ["trace", str(path), "--period", "160ms", "--unit", "ms"]
    assert main([*arguments, "--latency", "30ms"]) == 1
    assert main([*arguments, "--latency", "50ms"]) == 0


def test_the_library_takes_paths_only() -> None:
    with pytest.raises(TypeError, match="paths of traces"):
        qps.trace(period="160 ms")
    with pytest.raises(QpsError, match="does not exist"):
        qps.trace("nowhere.csv", period="160 ms")
