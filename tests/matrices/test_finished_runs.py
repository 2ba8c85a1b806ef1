"""`--resume` of a run that has ended: known again by what was asked and by its file's bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qps.cli import main
from qps.commands.cache import matrix_run_cache
from qps.solver.matrix import matrix_compiler

HARDWARE = """
machine server { cpu 1 core }
component work { cpu 2 ms/request }
network lan { duplex; rate 1 Gbit/s }
"""
SHOP = """
use "hardware.qps" as hw
users N in 1..1000
param extra = 1 in 1..40
topology {
  node here = hw.server
  node user = hw.server * N
  link wire = hw.lan between user, here
}
stream requests for each user {
  traffic extra * 1 request/s, 10 byte/request
  at user { }
  over wire
  at here { hw.work }
}
matrix m { extra in 1..40 by 1 }
"""
NOBODY = SHOP.replace("1..40", "9000..9040").replace("= 1", "= 9000")
ENDINGS = (".parquet", ".csv", ".json")


@pytest.fixture(autouse=True)
def where_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep in a folder of this test's own, beside that of the spec."""
    monkeypatch.delenv("QPS_CACHE")
    monkeypatch.setenv("QPS_CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("shop.qps").write_text(SHOP)
    Path("hardware.qps").write_text(HARDWARE)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of all matrices that are compiled from now on."""
    found: list[str] = []
    real = matrix_compiler.compile_matrix

    def noting(model: object, matrix: object, **drawn: object) -> object:
        found.append(matrix.name)  # type: ignore[attr-defined]
        return real(model, matrix, **drawn)  # type: ignore[arg-type]

    monkeypatch.setattr(matrix_compiler, "compile_matrix", noting)
    return found


def ran(*words: str, spec: str = "shop.qps", output: str = "out.parquet") -> int:
    return main(["matrix", spec, "-o", output, *words])


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("text", "status"), [(SHOP, 0), (NOBODY, 1)], ids=["answers", "nobody"])
def test_what_has_ended_is_reported_again_and_left_as_it_is(
    ending: str,
    text: str,
    status: int,
    compiled: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("shop.qps").write_text(text)
    output = Path(f"out{ending}")
    assert ran(output=output.name) == status
    errors = capsys.readouterr().err
    before, stat = output.read_bytes(), output.stat()
    assert ran("--resume", output=output.name) == status
    assert compiled == ["m"]
    again = capsys.readouterr().err
    assert again == errors.replace(f"written to {output}\n", f"{output} is up to date\n")
    assert output.read_bytes() == before
    assert (output.stat().st_mtime_ns, output.stat().st_ino) == (stat.st_mtime_ns, stat.st_ino)


IDLE = """
users N in 1..1000
option working = on
param spare = 1
machine server { cpu 1 core }
component work { cpu 1 ms/request }
topology { node here = server }
stream requests { traffic N * 1 request/s; at here { work if working } }
matrix m { working in [on, off] }
"""


def test_what_is_warned_of_is_reported_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("shop.qps").write_text(IDLE)
    ran()
    errors = capsys.readouterr().err
    assert "1 of 2 configurations have no load and no requirement" in errors
    assert "parameter `spare` is never used" in errors
    ran("--resume")
    again = capsys.readouterr().err
    assert again.splitlines()[:-1] == errors.splitlines()[:-1]


def edit(name: str, old: str, new: str) -> Callable[[], None]:
    def changed() -> None:
        before = Path(name).stat()
        data = Path(name).read_bytes()
        assert old.encode() in data
        Path(name).write_bytes(data.replace(old.encode(), new.encode()))
        os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))

    return changed


CHANGES: dict[str, Callable[[], object]] = {
    "the spec": edit("shop.qps", "10 byte", "11 byte"),
    "a module": edit("hardware.qps", "2 ms", "3 ms"),
    "the file": edit("out.parquet", "PAR1", "PAR2"),
    "the file is gone": lambda: Path("out.parquet").unlink(),
    "parts are left": lambda: Path("out.parquet.parts").mkdir(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_solved_again(
    change: Callable[[], object], compiled: list[str]
) -> None:
    assert ran() == 0
    change()
    assert ran("--resume") == 0
    assert compiled == ["m", "m"]
    again = Path("out.parquet").read_bytes()
    assert ran(output="anew.parquet") == 0
    assert Path("anew.parquet").read_bytes() == again


@pytest.mark.parametrize(
    "other",
    [{"words": ("--set", "N=1..3")}, {"output": "other.parquet"}, {"output": "out.csv"}],
    ids=["a setting", "a file", "an ending"],
)
def test_another_run_is_another(other: dict[str, object], compiled: list[str]) -> None:
    assert ran() == 0
    words = other.get("words", ())
    assert isinstance(words, tuple)
    assert ran("--resume", *words, output=str(other.get("output", "out.parquet"))) == 0
    assert compiled == ["m", "m"]


def test_another_qps_makes_its_own(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert ran() == 0
    monkeypatch.setattr(matrix_run_cache, "build", lambda: "qps 0.0.9+0123")
    assert ran("--resume") == 0
    assert compiled == ["m", "m"]


def test_without_resume_and_where_nothing_is_stored_it_is_solved(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ran() == 0
    assert ran() == 0
    monkeypatch.setenv("QPS_CACHE", "off")
    assert ran("--resume") == 0
    assert compiled == ["m", "m", "m"]


def test_another_run_that_wrote_the_file_since_is_not_taken_for_it(compiled: list[str]) -> None:
    assert ran() == 0
    whole = Path("out.parquet").read_bytes()
    assert ran("--set", "N=1..3") == 0
    assert ran("--resume") == 0
    assert Path("out.parquet").read_bytes() == whole
    assert len(compiled) == 3
