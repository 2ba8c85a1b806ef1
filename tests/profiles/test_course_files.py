"""`qps solve --course` writes a day as a table: the numbers of its JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from qps.cli import main

DAY = """
users shoppers in 1..2_000
profile visits over day { 08:00..22:00 = 0.6; 18:00..20:00 = 1; else = 0.1 }
machine vm { cpu 4 core, queueing mmc }
topology { node web = vm * 5 }
component page { cpu 240 ms/request }
stream browse for each user { traffic 0.1 request/s * visits; at web { page } }
require { browse.p99 <= 5 s }
"""


@pytest.mark.parametrize("users", [400, 950])
def test_the_table_of_a_day_has_the_numbers_of_its_json(
    users: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    spec = tmp_path / "day.qps"
    spec.write_text(DAY)
    command = ["solve", str(spec), "--set", f"shoppers={users}", "--no-advice", "--format", "json"]
    files = [tmp_path / "day.csv", tmp_path / "day.parquet"]
    for file in files:
        main([*command, "--course", str(file)])
        course = json.loads(capsys.readouterr().out)["course"]
    with files[0].open(encoding="utf-8", newline="") as read:
        lines = list(csv.DictReader(read))
    rows = parquet.read_table(files[1]).to_pylist()
    assert len(rows) == len(lines) == len(course["times"]) == 5
    for row, line, moment in zip(rows, lines, course["times"], strict=True):
        assert row["start"] == int(line["start"]) == moment["start"]
        assert row["end"] == int(line["end"]) == moment["end"]
        assert row["utilization"] == float(line["utilization"]) == moment["utilization"]
        assert row["backlog"] == float(line["backlog"]) == moment["backlog"]
        assert row["supported"] == (line["supported"] == "True") == moment["supported"]
    if users == 950:  # 114 % for two hours, in s of all cores
        waiting = [row["backlogs.web.cpu"] for row in rows]
        assert waiting == pytest.approx([0, 0, 0.14 * 7200, 0, 0], abs=1e-6)


def test_what_has_no_course_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, file = tmp_path / "day.qps", tmp_path / "day.csv"
    spec.write_text(DAY)
    for more, message in (
        (["--course", str(tmp_path / "day.txt")], "use the extension `.parquet` or `.csv`"),
        (["--course", str(spec)], "unknown file type"),
        (["--course", "day.json"], "`--format json` prints the same numbers"),
        (["--course", str(file), "--users", "300"], "cannot be combined with `--users`"),
        (["--course", str(file), "--set", "visits=1"], "all profiles are set"),
    ):
        assert main(["solve", str(spec), "--no-advice", *more]) == 2
        assert message in capsys.readouterr().err
    spec.write_text(DAY.replace(" * visits", "").replace("profile", "# profile"))
    assert main(["solve", str(spec), "--no-advice", "--course", str(file)]) == 2
    assert "no profile" in capsys.readouterr().err
    assert not file.exists()
