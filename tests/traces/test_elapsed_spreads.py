"""How far the mean of elapsed times may be off, by windows of time."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.traces.elapsed_spreads import TimeWindows, ratio_spread
from qps.compiler.measurement.traces.json_elements import parts_of
from traces.written_traces import Work, as_text, otlp, spans_of

SECOND = 1_000_000_000


@pytest.mark.parametrize("memory", [0.0, 0.9])
def test_intervals_hold_the_mean_where_neighbors_wait_for_the_same_reason(memory: float) -> None:
    """Times follow each other (with a memory of ten of them); each series has 64 s."""
    chance, held, count = random.Random(3), 0, 200
    for _ in range(count):
        windows, state, total = TimeWindows(), 0.0, 0.0
        for number in range(1280):
            state = memory * state + (1 - memory**2) ** 0.5 * chance.gauss(0, 1)
            value = 20 + state + chance.gauss(0, 1)
            total += value
            windows.add(number * SECOND // 20, value, 1.0)
        assert windows.spread is not None
        mean = total / 1280
        held += abs(20 - mean) <= windows.spread * mean
    assert held >= 0.88 * count


def test_windows_are_few_however_long_it_takes() -> None:
    windows = TimeWindows()
    for at in (5, 2**61, *(number * SECOND for number in range(10_000))):
        windows.add(at, 1.0, 2.0)
    assert len(windows.sums) <= 16
    assert sum(weight for weight, _ in windows.sums.values()) == 2 * 10_002
    assert windows.spread is None or windows.spread < 1e-9


def test_too_few_windows_say_nothing() -> None:
    assert ratio_spread([(1.0, 2.0), (2.0, 3.0)]) is None
    assert ratio_spread([(0.0, 0.0)] * 4) is None
    assert ratio_spread([(1.0, 2.0)] * 4) == 0.0


def test_a_delay_that_varies_with_time_has_an_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    slow = (Work(service="web", operation="GET /", own=20 + number // 10) for number in range(60))
    (tmp_path / "traces.json").write_text(as_text(otlp(spans_of(slow))), encoding="utf-8")
    assert main(["observe", "traces", "traces.json", "-o", "web.qps"]) == 0
    capsys.readouterr()
    means = [20 + second for second in range(6)]
    middle = sum(means) / 6
    variance = sum((one - middle) ** 2 for one in means) / 5
    spread = 100 * 2.5706 * (variance / 6) ** 0.5 / middle
    assert f"delay waits({middle:g} ms +- {spread:.2g} %, web_cpu)" in Path("web.qps").read_text()


class _Pieces:
    """A file that is read in pieces."""

    def __init__(self, text: bytes, size: int) -> None:
        self.left, self.size = text, size

    def read(self, _: int = -1, /) -> bytes:
        piece, self.left = self.left[: self.size], self.left[self.size :]
        return piece


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_deep_parts_are_those_that_are_found_bracket_by_bracket(size: int) -> None:
    texts = [b'{"v":' + b"[" * depth + b'"]}\\""' + b"]" * depth + b"}" for depth in range(30)]
    document = b'{"a": [' + b", ".join(texts) + b"]}"
    parts = parts_of(_Pieces(document, size), "x", lambda path: path == ("a", "[]"))
    assert [part.text for part in parts if part is not None and part.text] == texts
    assert all(len(after) == len(before) + 2 for before, after in pairwise(texts))
