"""Access logs: rates, failures and latencies of lines, and nothing that names anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognized_files import recognized_files

LINE = (
    '203.0.113.7 - alice [01/Mar/2026:10:{minute:02}:{second:02} +0100] "GET /pay?token=s3cret '
    'HTTP/1.1" {status} {size} "-" "Mozilla \\"5\\" [x]"{more}\n'
)


def lines(seconds: range, per_second: int = 10, more: str = " 0.{ms:03}") -> str:
    return "".join(
        LINE.format(
            minute=second // 60,
            second=second % 60,
            status=500 if number == 0 else 200,
            size="-" if number == 0 else 1000,
            more=more.format(ms=10 * (number + 1)),
        )
        for second in seconds
        for number in range(per_second)
    )


def observed(folder: Path, text: str, **how: str) -> ObservedRuns:
    file = folder / "access.log"
    file.write_text(text, encoding="utf-8")
    return recognized_files([file], FileReading(**how))


def row(found: ObservedRuns, place: int = 0) -> dict[str, str]:
    return dict(zip(found.headings, found.rows[place], strict=True))


def test_rates_failures_and_latencies_are_those_of_the_lines(tmp_path: Path) -> None:
    found = observed(tmp_path, lines(range(60)), window="10s")
    assert [float(one[found.headings.index("request/s")]) for one in found.rows] == [10.0] * 4
    first = row(found)
    assert first["time"] == "2026-03-01T09:00:10.000Z"
    assert float(first["byte/s"]) == 9000
    assert float(first["share failed"]) == pytest.approx(0.1)
    assert float(first["latency mean, ms"]) == pytest.approx(55)
    whole = row(observed(tmp_path, lines(range(61))))
    assert float(whole["request/s"]) == pytest.approx(610 / 60)


def test_nothing_that_names_anybody_is_copied(tmp_path: Path) -> None:
    found = observed(tmp_path, lines(range(5)))
    text = found.as_csv() + "\n".join(found.notes)
    assert not any(word in text for word in ("203.0.113", "alice", "s3cret", "/pay", "Mozilla"))


def test_a_log_without_latencies_has_rates(tmp_path: Path) -> None:
    found = observed(tmp_path, lines(range(11), more=""))
    assert float(row(found)["request/s"]) == pytest.approx(11)
    assert not any(heading.startswith("latency") for heading in found.headings)
    assert any("has no latencies" in note for note in found.notes)


def test_lines_without_a_request_are_counted_and_reported(tmp_path: Path) -> None:
    found = observed(tmp_path, lines(range(30)) + "10.0.0.1 secret garbage\n")
    assert any("1 line, such as line 301, without a request is left out" in n for n in found.notes)
    with pytest.raises(DataError, match="line 11: not a line of an access log") as caught:
        observed(tmp_path, lines(range(1)) + "10.0.0.1 secret garbage\n" * 9)
    assert "secret" not in caught.value.message


def test_a_line_of_any_length_takes_bounded_time(tmp_path: Path) -> None:
    long = LINE.format(minute=0, second=1, status=200, size=1, more="").replace(
        "/pay", "/" + "a\\" * 2_000_000
    )
    with pytest.raises(DataError, match="line 601: not a line of an access log"):
        observed(tmp_path, lines(range(60)) + long)
