"""Counters of a Prometheus as runs: what is read, what is left out, what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import pi, sin
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.fake_prometheus import Counter, Fake, fake_prometheus
from qps.cli import main
from qps.compiler.measurement.observations import prometheus_server
from qps.compiler.measurement.observations.counter_windows import shift, spread_over, steps, windows

UNTIL = 1_795_392_000  # 2026-11-23T00:00Z, a multiple of all windows here
DAY = 86_400
FIXED, REQUEST, OCTET = 0.05, 20e-6, 1e-9
"""Cores that are always busy; seconds of a core for each request, and for each byte."""


def requests(t: float) -> float:
    """Return how many were made since a start: from 0 to 2,000/s in the course of a day."""
    return 1000 * (t - UNTIL + 30 * DAY) - 1000 * DAY / (2 * pi) * sin(2 * pi * t / DAY)


def octets(t: float) -> float:
    """Return how many bytes were sent, by sizes that change in another rhythm."""
    rhythm = 0.3 * DAY / (2 * pi)
    return 10_000 * requests(t) + 3e6 * (t - UNTIL + 40 * DAY + rhythm * sin(t / rhythm))


def seconds(t: float) -> float:
    return FIXED * (t - UNTIL + 30 * DAY) + REQUEST * requests(t) + OCTET * octets(t)


@pytest.fixture
def fake() -> Iterator[Fake]:
    with fake_prometheus(cpu=seconds, requests=requests, octets=octets) as found:
        yield found


def observe(url: str, *more: str, since: str = "1d", rates: bool = True) -> int:
    rate = ["--rate", "request=requests", "--rate", "byte=octets"] if rates else []
    options = ["--until", "2026-11-23T00:00Z", "--since", since, "--cpu", "cpu", *rate]
    return main(["observe", "prometheus", url, *options, *more])


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_costs_are_those_of_the_system(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out)) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert (
        "200 rows of 288 windows, evenly spread over the utilization of 288 usable windows"
        in output.err
    )
    assert len(rows_of(out)) == 200
    assert main(["fit", str(out), "--cores", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    fixed, request, octet = (one["value"] for one in found["coefficients"])
    assert fixed == pytest.approx(FIXED / 2, rel=1e-3)
    assert request == pytest.approx(REQUEST, rel=1e-3)
    assert octet == pytest.approx(OCTET / 8, rel=1e-3)


def test_windows_are_the_same_for_all_columns_and_do_not_overlap(
    fake: Fake, tmp_path: Path
) -> None:
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out), "--rows", "1000", "--cores", "4") == 0
    rows = rows_of(out)
    assert list(rows[0]) == ["time", "cpu in %", "request/s", "byte/s", "cores"]
    assert {row["cores"] for row in rows} == {"4"}
    assert rows[0]["time"] == "2026-11-22T00:00:00.000Z"
    assert rows[-1]["time"] == "2026-11-22T23:55:00.000Z"
    start = UNTIL - DAY
    for place, row in enumerate(rows):
        at, to = start + 300 * place, start + 300 * (place + 1)
        assert float(row["request/s"]) == pytest.approx((requests(to) - requests(at)) / 300)
        assert float(row["cpu in %"]) == pytest.approx((seconds(to) - seconds(at)) / 300 * 25)
    grids = {(a["start"], a["end"], a["step"]) for a in fake.queried}
    assert len(grids) == 1


def test_a_week_is_requested_in_answers_that_a_prometheus_gives(fake: Fake, tmp_path: Path) -> None:
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out), since="7d") == 0
    assert len(fake.queried) == 3 * 5  # 40,321 times in parts of 10,000
    rows = rows_of(out)
    assert {row["day"] for row in rows} == {f"2026-11-{day}" for day in range(16, 23)}
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)


def test_rows_are_spread_over_the_loads(fake: Fake, tmp_path: Path) -> None:
    # Of five days, four without any load: they do not decide.
    def rare(t: float) -> float:
        return requests(t) if t > UNTIL - DAY else requests(UNTIL - DAY) - 1e-3 * (UNTIL - t)

    fake.counters["requests"] = {"a": rare}
    fake.counters["cpu"] = {"a": lambda t: FIXED * (t - UNTIL + 30 * DAY) + REQUEST * rare(t)}
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out), "--rows", "100", since="5d") == 0
    busy = [row for row in rows_of(out) if row["time"] >= "2026-11-22"]
    assert len(busy) > 80


def test_what_fell_or_was_not_there_is_left_out(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = UNTIL - DAY

    def broken(t: float) -> float | None:
        if start + 3000 < t < start + 3100:
            return None
        return requests(t) - (requests(start + 7000) if t > start + 7000 else 0)

    fake.counters["requests"] = {"a": broken}
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out), "--rows", "1000") == 0
    errors = capsys.readouterr().err
    left_out = "1 with a counter reset (restart), 1 with a missing sample"
    assert f"ignored: {left_out}, 1 right after a missing sample" in errors
    left = {f"2026-11-22T00:{minute}:00.000Z" for minute in ("50", "55")}
    left |= {"2026-11-22T01:55:00.000Z"}
    assert not left & {row["time"] for row in rows_of(out)}
    assert len(rows_of(out)) == 288 - 3


def test_series_are_added_up_only_on_request(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # One of two begins in the middle, which in a sum would look like many requests at once.
    begin = UNTIL - DAY / 2 + 450

    def late(t: float) -> float | None:
        return 1e9 + requests(t) - requests(begin) if t >= begin else None

    fake.counters["requests"] = {"a": requests, "b": late}
    fake.counters["cpu"] = {"a": lambda t: seconds(t) + REQUEST * ((late(t) or 1e9) - 1e9)}
    out = tmp_path / "web.csv"
    assert observe(fake.url, "-o", str(out)) == 2
    errors = capsys.readouterr().err
    assert '`requests` returns 2 series: {instance="a"}, {instance="b"}' in errors
    assert "--add-up" in errors
    assert observe(fake.url, "-o", str(out), "--add-up") == 0
    capsys.readouterr()
    assert main(["fit", str(out), "--cores", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["coefficients"][1]["value"] == pytest.approx(REQUEST, rel=1e-3)
    assert found["largest_relative_error"] < 1e-3


def walk(t: float) -> float:
    """Return a counter whose rate changes from minute to minute, in no order."""
    minute, rest = divmod(t, 60)
    return 1e6 + 6e4 * _summed(int(minute) - UNTIL // 60) + 1000 * _part(int(minute)) * rest


def _part(minute: int) -> float:
    return (minute * 2654435761 % 4096) / 4096


def _summed(minute: int, stored: dict[int, float] = {}) -> float:  # noqa: B006 - kept on purpose
    if not stored:
        total, first = 0.0, -20_000
        for one in range(first, 1):
            stored[one] = total
            total += _part(one + UNTIL // 60)
    return stored[minute]


@pytest.mark.parametrize(("late", "is_reported"), [(0, False), (30, True), (-30, True)])
def test_shifted_scrapes_are_noticed(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str], late: int, is_reported: bool
) -> None:
    fake.counters["requests"] = {"a": lambda t: walk(t - 60 - late)}
    fake.counters["cpu"] = {"a": lambda t: 1e-4 * walk(t - 60)}
    arguments = ("-o", str(tmp_path / "web.csv"), "--window", "1m", "-q")
    assert observe(fake.url, *arguments, since="3h", rates=False) == 2  # no rate, no costs
    options = ["--until", "2026-11-23T00:00Z", "--since", "3h", "--cpu", "cpu"]
    url = ["observe", "prometheus", fake.url]
    capsys.readouterr()
    assert main([*url, *options, "--rate", "request=requests", *arguments]) == 0
    errors = capsys.readouterr().err
    side = "after" if late > 0 else "before"
    assert (f"request/s seems to be 30 s {side} utilization" in errors) is is_reported


def test_windows_shorter_than_scrapes_are_refused(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    def scraped(counter: Counter, each: int) -> Counter:
        return lambda t: counter(t // each * each)

    for each, status in ((15, 0), (90, 0), (300, 2)):
        fake.counters["cpu"] = {"a": scraped(seconds, each)}
        fake.counters["requests"] = {"a": scraped(requests, each)}
        fake.counters["octets"] = {"a": scraped(octets, each)}
        assert observe(fake.url) == status
        errors = capsys.readouterr().err
        assert ("a window has only 3 samples of the counters" in errors) is (each == 90), errors
        assert ("has fewer than two samples of the counters" in errors) is (each == 300)


HTML = (200, {"Content-Type": "text/html"}, b"<html>Grafana</html>")
ERROR = (422, {}, b'{"status":"error","errorType":"execution","error":"query timed out"}')
SCALAR = (200, {}, b'{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}')
ODD = (200, {}, b'{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1]]}]}}')
OTHER = b'{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1,"1"]]}]}}'
EMPTY = (200, {}, b'{"status":"success","data":{"resultType":"matrix","result":[]}}')


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (HTML, "does not respond like a Prometheus"),
        (ERROR, "Prometheus rejects `cpu`: query timed out"),
        (SCALAR, "does not respond like a Prometheus"),
        (ODD, "does not respond like a Prometheus"),
        ((200, {}, OTHER), "returned times that were not requested"),
        (EMPTY, "`cpu` has no data in this period"),
        ((500, {}, b"oh"), "is not a Prometheus server, or it fails (status 500)"),
        ((404, {}, b"404 page not found"), "is not a Prometheus server, or it fails (status 404)"),
        ((401, {}, b""), "denies access (status 401)"),
        ((302, {"Location": "http://elsewhere.example/x?key=1"}, b""), "302: elsewhere.example)"),
        ((200, {}, b"[" * 100_000), "does not respond like a Prometheus"),
    ],
)
def test_what_is_no_answer_is_reported(
    fake: Fake,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    reply: tuple[int, dict[str, str], bytes],
    expected: str,
) -> None:
    fake.reply = reply
    out = tmp_path / "web.csv"
    out.write_text("kept", encoding="utf-8")
    assert observe(fake.url, "-o", str(out)) == 2
    assert expected in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "kept"
    assert len(fake.queried) == 1  # nobody else was asked, nor again


def test_a_query_that_is_none_is_reported_in_the_words_of_the_server(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert observe(fake.url, "--rate", "packet=no such thing") == 2
    assert "`no such thing`: 1:5: parse error: unexpected" in capsys.readouterr().err


def test_what_is_no_counter_is_reported(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.counters["up"] = {"a": lambda _: 1.0}
    fake.counters["waves"] = {"a": lambda t: sin(t / 100)}
    assert observe(fake.url, "--rate", "packet=up") == 2
    assert "`up` does not increase in any usable window" in capsys.readouterr().err
    assert observe(fake.url, "--rate", "packet=waves") == 2
    assert "a gauge has no rate" in capsys.readouterr().err


def test_answers_are_bounded(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus_server, "_MOST_BYTES", 10**6)
    fake.reply = (200, {}, b" " * (10**6 + 1))
    assert observe(fake.url) == 2
    assert "sent a response of more than 1 MB" in capsys.readouterr().err
    fake.reply = None
    monkeypatch.setattr(prometheus_server, "_MOST_BYTES", 10**8)
    monkeypatch.setattr(prometheus_server, "_MOST_VALUES", 10_000)
    fake.counters["cpu"] = {str(i): seconds for i in range(3)}
    assert observe(fake.url) == 2
    assert "`cpu` returns more than 1 series" in capsys.readouterr().err


def test_slow_answers_are_given_up(
    fake: Fake, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.pause = 0.02
    monkeypatch.setattr(prometheus_server, "_ANSWER_SECONDS", 0.05)
    assert observe(fake.url) == 2
    assert "takes longer than 0.05 s for one response" in capsys.readouterr().err
    monkeypatch.setattr(prometheus_server, "_ANSWER_SECONDS", 120.0)
    monkeypatch.setattr(prometheus_server, "_ALL_SECONDS", 0.06)
    assert observe(fake.url) == 2
    assert "takes longer than 0.001 minutes in total" in capsys.readouterr().err
    monkeypatch.setattr(prometheus_server, "_ALL_SECONDS", 0.0)  # none is left to begin with
    assert observe(fake.url) == 2
    assert "minutes in total" in capsys.readouterr().err


def test_warnings_of_the_server_are_passed_on(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.warnings.append("store b is away: results may be partial")
    assert observe(fake.url) == 0
    assert "warning from Prometheus: store b is away" in capsys.readouterr().err


def test_what_a_server_says_drives_no_terminal(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.warnings.append("\x1b[2Jgone")
    fake.counters["requests"] = {"a\x1b[2J": requests, "b": requests}
    assert observe(fake.url) == 2
    fake.counters["requests"] = {"a": requests}
    assert observe(fake.url) == 0
    fake.reply = (422, {}, json.dumps({"status": "error", "error": "\x1b[2Jgone"}).encode())
    assert observe(fake.url) == 2
    output = capsys.readouterr()
    assert "gone" in output.err
    assert "\x1b" not in output.out + output.err


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert observe("http://127.0.0.1:9") == 2
    assert "no response from `127.0.0.1:9`: Connection refused" in capsys.readouterr().err


def secret_in(names: dict[str, str]) -> Callable[[pytest.MonkeyPatch], None]:
    def put(patch: pytest.MonkeyPatch) -> None:
        for name, value in names.items():
            patch.setenv(f"QPS_PROMETHEUS_{name}", value)

    return put


@pytest.mark.parametrize(
    ("names", "sent"),
    [
        ({"TOKEN": "s3cret"}, "Bearer s3cret"),
        ({"USER": "me", "PASSWORD": "s3cret"}, "Basic bWU6czNjcmV0"),
        ({}, None),
    ],
)
def test_credentials_come_from_the_environment_alone(
    fake: Fake,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    names: dict[str, str],
    sent: str | None,
) -> None:
    secret_in(names)(monkeypatch)
    assert observe(fake.url) == 0
    assert all(headers.get("Authorization") == sent for headers in fake.headers)
    fake.reply = (401, {}, b"")
    assert observe(fake.url) == 2
    output = capsys.readouterr()
    assert "s3cret" not in output.out + output.err
    assert "bWU6" not in output.out + output.err
    # To another server nothing is sent.
    with fake_prometheus() as other:
        fake.reply = (307, {"Location": other.url}, b"")
        assert observe(fake.url) == 2
        assert other.headers == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"TOKEN": "a", "USER": "b"}, "two kinds of credentials"),
        ({"PASSWORD": "s3cret"}, "but no user"),
        ({"TOKEN": "s3cret\r\nX: y"}, "credentials in the environment have invalid characters"),
    ],
)
def test_wrong_credentials_are_reported_without_showing_them(
    fake: Fake,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    names: dict[str, str],
    expected: str,
) -> None:
    secret_in(names)(monkeypatch)
    assert observe(fake.url) == 2
    printed = capsys.readouterr().err
    assert expected in printed
    assert "s3cret" not in printed
    assert fake.queried == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("ftp://127.0.0.1/",), "is not an `http://` or `https://` address"),
        (("file:///etc/passwd",), "is not an `http://` or `https://` address"),
        (("127.0.0.1:9090",), "is not an `http://` or `https://` address"),
        (("http://me:s3cret@127.0.0.1",), "credentials in an address"),
        (("http://127.0.0.1:99999",), "this is not a valid address"),
        (("http://127.0.0.1/?x=1",), "has more than a path"),
        (("http://x", "--window", "0s"), "`--window 0s` is not a time"),
        (("http://x", "--window", "5"), "`--window 5` is not a time"),
        (("http://x", "--since", "1e9d"), "`--since 1e9d` is not a time"),
        (("http://x", "--since", "100s"), None),
        (("http://x", "--since", "365d", "--window", "1m"), "windows are too many"),
        (("http://x", "--cpu", "rate(cpu[5m])"), "has its own window"),
        (("http://x", "--rate", "packet=sum(increase(x[1m]))"), "has its own window"),
        (("http://x", "--rate", "request=requests"), "given twice"),
        (("http://x", "--rate", "requests"), "does not name the counted item"),
        (("http://x", "--rate", "a b=requests"), "does not name the counted item"),
        (("http://x", "--cores", "many"), "not a number of cores"),
        (("http://x", "--rows", "0"), "`--rows` must be from 1 to 100,000"),
        (("http://x", "--until", "yesterday"), "is not a date and time"),
    ],
)
def test_a_wrong_request_sends_no_query(
    arguments: tuple[str, ...],
    expected: str | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr("urllib.request.OpenerDirector.open", refuse)
    if "--cpu" in arguments or "--since" in arguments or "--until" in arguments:
        url, *more = arguments
        given = {"--cpu": "cpu", "--since": "1d", "--until": "2026-11-23T00:00Z"}
        given |= dict(zip(more[::2], more[1::2], strict=True))
        words = [word for pair in given.items() for word in pair]
        status = main(["observe", "prometheus", url, *words, "--rate", "request=requests"])
    else:
        status = observe(*arguments)
    assert status == 2
    printed = capsys.readouterr().err
    assert (expected or "the period is shorter than one window of 300 s") in printed
    assert "s3cret" not in printed


# -- laws ---------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 8), min_size=1, max_size=300), st.integers(1, 50))
def test_included_rows(loads: list[float], most: int) -> None:
    stored = spread_over(loads, most)
    assert stored == sorted(set(stored))
    assert len(stored) == min(most, len(loads))
    assert all(0 <= place < len(loads) for place in stored)


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=5, max_size=200))
def test_windows_that_count_hold_all_that_was_counted(values: list[float | None]) -> None:
    found = windows([[values]], 4)
    assert found.count == (len(values) - 1) // 4
    grown = steps([values])
    for place, (growth,) in zip(found.places, found.growth, strict=True):
        within = grown[4 * place : 4 * place + 4]
        assert None not in within
        assert growth == pytest.approx(sum(value for value in within if value is not None))
        before = values[4 * place - 4 : 4 * place] if place else [0.0]
        falls = [a for a, b in pairwise(before) if a is not None and b is not None and b < a]
        assert None not in before or bool(falls)


@given(st.integers(-6, 6), st.integers(0, 2**32))
def test_a_shift_is_found(by: int, seed: int) -> None:
    import random

    drawn = random.Random(seed)
    load: list[float | None] = [drawn.random() for _ in range(200)]
    moved = [load[place - by] if 0 <= place - by < 200 else drawn.random() for place in range(200)]
    assert shift(load, moved, 8) == by
