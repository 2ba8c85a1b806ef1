"""Readers of results are bounded: lines without end, and credentials in what tools write down."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import observed_files

OBSERVED = Path(__file__).parents[1] / "observed"
LINE = 64_000_000
PEAK = 45_000_000
"""Of memory: a text is read up to 20 MB, then refused."""
CREDENTIALS = ("hunter2", "s3cr3t", "ghp_0123456789abcdef")


def _files() -> dict[str, Path]:
    """Return a file of each source, the shortest of each ending."""
    found: dict[str, Path] = {}
    for path in sorted(OBSERVED.iterdir()):
        name = path.name.partition(".")[0].replace("_", "-")
        source = next((one for one in sorted(SOURCES, key=len) if name.startswith(one)), None)
        if source is not None and source != "pcap":
            found[f"{source} {path.name}"] = path
    return found


@pytest.mark.parametrize("name", _files())
def test_a_line_without_end_is_read_in_bounded_memory(name: str, tmp_path: Path) -> None:
    """A file ends in 64 MB without a line break, which take no room on the disk."""
    source, path = name.split(maxsplit=1)[0], _files()[name]
    file = tmp_path / "run"
    file.write_bytes(path.read_bytes())
    os.truncate(file, LINE)
    tracemalloc.start()
    try:
        try:
            observed_files(source, [file], FileReading())
        except DataError as error:
            assert error.hint  # noqa: PT017 - some readers leave out a last line that is cut off
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < PEAK


def _written(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    file = folder / "run.txt"
    file.write_text(text, encoding="utf-8")
    main(["observe", str(file)])
    captured = capsys.readouterr()
    return captured.out + captured.err


def _jmeter() -> str:
    label = "GET http://me:hunter2@shop/pay?token=s3cr3t"
    head = "timeStamp,elapsed,label,responseCode,responseMessage,success,threadName,bytes\n"
    rows = [f"{1_700_000_000_000 + 100 * n},50,{label},200,OK,true,t 1-1,10\n" for n in range(3)]
    inside = '"Number of samples in transaction : 3, number of failing samples : 0"'
    return f"{head}{''.join(rows)}1700000000000,260,{label} all,200,{inside},true,t 1-1,30\n"


def _fio() -> str:
    text = (OBSERVED / "fio.json").read_text(encoding="utf-8")
    name = "copy http://me:hunter2@shop/?sig=s3cr3t ghp_0123456789abcdef"
    return text.replace('"jobname": "r"', f'"jobname": "{name}"')


def _prometheus() -> str:
    return (
        '{"status":"success","data":{"resultType":"matrix","result":['
        '{"metric":{"__name__":"a","url":"http://shop/?api_key=s3cr3t"},"values":[[1,"1"],[2,"2"]]},'
        '{"metric":{"__name__":"a","url":"http://me:hunter2@shop"},"values":[[1,"1"],[2,"2"]]}]}}'
    )


def _unknown() -> str:
    return "Authorization: Bearer s3cr3ts3cr3t ghp_0123456789abcdef\nCookie: sid=hunter2\n"


@pytest.mark.parametrize("write", [_jmeter, _fio, _prometheus, _unknown])
def test_credentials_are_neither_written_nor_printed(
    write: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(write)
    text = write()
    assert any(one in text for one in CREDENTIALS)
    printed = _written(tmp_path, text, capsys)
    assert not [one for one in CREDENTIALS if one in printed]
    assert "{hidden}" in printed


def test_that_credentials_were_left_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _written(tmp_path, _fio(), capsys)
    assert "warning: credentials in names or addresses were replaced by `{hidden}`" in printed
