"""`qps observe FILE…`: each file is recognized by its content, or its refusal states what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import observed_files
from qps.compiler.measurement.observations.recognition import source_of
from qps.compiler.measurement.observations.recognized_files import recognized_files

OBSERVED = Path(__file__).parents[1] / "observed"
FILES = sorted(path for path in OBSERVED.iterdir() if path.is_file())


def _source(path: Path) -> str:
    """Return whose a file is, by its name: that of the source with the longest name that fits."""
    return max((name for name in SOURCES if path.name.startswith(name)), key=len)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_of_each_tool_is_recognized(path: Path, tmp_path: Path) -> None:
    assert source_of(path).name == _source(path)
    if SOURCES[_source(path)].magic:
        return
    wide = tmp_path / path.name
    wide.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")
    assert source_of(wide).name == _source(path)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.suffix != ".pcap" and "_log." not in path.name],
    ids=lambda path: path.name,
)
def test_a_recognized_file_is_read_as_by_its_name(path: Path) -> None:
    how = FileReading()
    found, named = recognized_files([path], how), observed_files(_source(path), [path], how)
    assert (found.headings, found.rows) == (named.headings, named.rows)
    assert f"recognized as {_source(path)}" in found.notes[0]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (b"PK\x03\x04rest", "a spreadsheet file or ZIP archive", "save the sheet as CSV"),
        (b"\x1f\x8b\x08rest", "compressed by gzip", "gunzip"),
        (b"<!DOCTYPE html><html>", "a web page", "the data of the report"),
        (b"<?xml version='1.0'?><a/>", "is XML of an unknown format", "CSV"),
        (
            b'{"resource": [1], "scope": {}}',
            "JSON of an unknown format (with `resource`",
            "summary",
        ),
        (b"", "is empty", "save the output"),
        (b"\x00\x01\x02\x03", "a binary file of an unknown format", "`--as`"),
        (b"hello world\nthis is text\n", "beginning with `hello world`", "`--as`"),
        (
            b"Requests/sec: 1\nfinished in 1s, 1 req/s\n",
            "may be output of `wrk` or `h2load`",
            "--as",
        ),
    ],
)
def test_a_file_that_is_not_recognized_is_described(
    content: bytes, message: str, hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        recognized_files([file], FileReading())
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_as_overrides_what_a_file_looks_like(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrk.txt"
    file.write_bytes((OBSERVED / "wrk.txt").read_bytes())
    assert main(["observe", "--as", "h2load", str(file)]) == 2
    assert "no line `finished in …`" in capsys.readouterr().err
    assert main(["observe", "-q", str(file)]) == 0
    plain = capsys.readouterr().out
    assert main(["observe", str(file), "--as", "wrk"]) == 0
    assert capsys.readouterr().out == plain
    assert main(["observe", str(file), "--as", "wrrk"]) == 2
    assert "did you mean `wrk`?" in capsys.readouterr().err
    assert main(["observe", "wrrk", str(file)]) == 2
    assert "`wrrk` does not exist" in capsys.readouterr().err


def test_a_spreadsheet_is_headed_by_what_its_columns_mean() -> None:
    found = recognized_files([OBSERVED / "table.csv"], FileReading())
    assert found.headings == ("users", "request/s", "cpu in %", "latency p95, ms", "Comment")
    assert found.rows[1:] == (
        ("160", "1890.4", "12.4", "14.1", "first"),
        ("320", "3702.9", "24.0", "", ""),
    )
    assert any("cpu in % from `CPU (%)`" in note for note in found.notes)


def sheet(tmp_path: Path, text: str, **how: object) -> list[dict[str, str]]:
    file = tmp_path / "sheet.csv"
    file.write_text(text, encoding="utf-8")
    found = recognized_files([file], FileReading(**how))  # type: ignore[arg-type]
    return [dict(zip(found.headings, row, strict=True)) for row in found.rows]


def test_what_a_column_means_can_be_stated(tmp_path: Path) -> None:
    text = "Throughput,%CPU,95%\n600,250,0.2\n1200,300,0.3\n"
    with pytest.raises(DataError, match="no column that is known") as caught:
        sheet(tmp_path, text)
    assert "--column 'Throughput=request/s'" in caught.value.hint
    stated = ("Throughput=request/min", "%CPU=cpu in % of a core", "95%=p95 in s")
    [first, _] = sheet(tmp_path, text, column=stated)
    assert first == {"request/s": "10", "cpu in core": "2.5", "latency p95, ms": "200"}


@pytest.mark.parametrize(
    ("column", "message"),
    [("Troughput=request/s", "has no column `Troughput`"), ("rps", "does not state")],
)
def test_a_wrong_column_is_refused(column: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        sheet(tmp_path, "Throughput,cpu in %\n1,2\n", column=(column,))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rps,CPU (%)\n10,50\n20,250\n", "line 3: `CPU (%)` is 250 %", "cpu in % of a core"),
        ("rps,TPS\n10,50\n", "`rps` and `TPS` are both read as `request/s`", "--column 'TPS="),
        ("rps,cpu in %\n10,x\n", "line 2: `x` in column `cpu in %`", "leave it empty"),
        ('rps,cpu in %\n"1,890",10\n', "`1,890` can mean 1890 or 1.890", "`.` for decimals"),
    ],
)
def test_what_is_not_certain_is_not_guessed(
    text: str, message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        sheet(tmp_path, text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_decimal_sign_can_be_named(tmp_path: Path) -> None:
    text = 'rps,cpu in %\n"1,890",10\n'
    assert sheet(tmp_path, text, decimal=".")[0]["request/s"] == "1890"
    assert sheet(tmp_path, text, decimal=",")[0]["request/s"] == "1.890"


def test_fio_prints_above_and_below_its_json(tmp_path: Path) -> None:
    text = (OBSERVED / "fio.json").read_text(encoding="utf-8")
    file = tmp_path / "fio.txt"
    file.write_text(f"fio-3.42\nStarting 1 process\n{text}\n\nrun: (groupid=0): {{err= 0}}\n}}\n")
    found = recognized_files([file], FileReading())
    plain = recognized_files([OBSERVED / "fio.json"], FileReading())
    assert [row[1:] for row in found.rows] == [row[1:] for row in plain.rows]


def test_an_extract_of_vegeta_says_nothing_of_failures(tmp_path: Path) -> None:
    lines = (OBSERVED / "vegeta.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    file = tmp_path / "vegeta.txt"
    file.write_text("".join(lines[:4]), encoding="utf-8")
    found = recognized_files([file], FileReading())
    assert "share failed" not in found.headings
    assert "latency p99, ms" in found.headings
