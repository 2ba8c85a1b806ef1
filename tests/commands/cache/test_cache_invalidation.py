"""Stored values are used only if no file, module or version that they depend on changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from time import sleep

import msgspec
import pytest

from helpers.cases.command_caches import SOLVE, TABLE, by_another, reported
from helpers.nightly import nightly
from qps import build
from qps.commands.cache import spec_cache


def test_whatever_took_part_makes_it_another(
    copied: Path, warm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each module that is imported in the end, and what modules read."""
    listing = "import sys, qps.cli as c; c.main(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    listed = subprocess.run(
        [sys.executable, "-c", listing, *SOLVE],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(copied)},
        check=True,
    )
    imported = {name for name in listed.stdout.splitlines() if name.split(".")[0] == "qps"}
    own = shutil.copytree(copied / "qps", tmp_path / "own", ignore=lambda *_: ["__pycache__"])
    monkeypatch.setattr(build, "_place_of", lambda _: str(own))
    monkeypatch.setattr(build, "_BEGAN", time.time() + 3600)
    parts = {part for path in warm.iterdir() for part in parts_of(path)}
    for name in imported:
        way = copied.joinpath(*name.split("."))
        file = way / "__init__.py" if way.is_dir() else way.with_suffix(".py")
        part = str(file.relative_to(copied / "qps"))
        assert part in parts, part
    assert {"grammar/tables.json", "engine/evaluators/on_fractions.py"} <= parts
    whole = build.checksum_of(sorted(parts))
    assert whole is not None
    ordered = sorted(parts)
    for start in range(0, len(ordered), 8):  # all of them were read three hundred times
        some = ordered[start : start + 8]
        before = build.checksum_of(some)
        for part in some:
            file = own / part
            data = file.read_bytes()
            file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if data else b"#")
            assert build.checksum_of(some) not in (before, None), part
            file.write_bytes(data)
        assert build.checksum_of([one for one in ordered if one not in some]) not in (whole, None)


def test_folders_of_data_alone_hinder_nothing() -> None:
    assert files("qps.stdlib.claypool1997").is_dir()
    assert "qps.stdlib.claypool1997" in sys.modules
    parts = build.parts_at_work()
    assert "stdlib/claypool1997/playout.qps" in parts
    assert build.checksum_of(parts) is not None


def test_cached_values_name_the_files_that_they_depend_on(retained: Path) -> None:
    first = spec_cache.check_file(Path("shop.qps")).value
    again = spec_cache.check_file(Path("shop.qps")).value
    assert first is not None
    assert again is not None
    assert len(first.files) > 1
    assert again.files == first.files


def parts_of(path: Path) -> list[str]:
    """Return the files of ours that are named in one that was kept."""
    tables = msgspec.msgpack.decode(path.read_bytes()[32:])
    texts = (text for text in tables[1] if isinstance(text, str))
    return next(text.split("\n") for text in texts if "grammar/tables.json\n" in text)


@pytest.mark.parametrize(
    ("part", "then"),
    [
        ("engine/evaluators/on_fractions.py", "taken, lowered"),
        ("compiler/check/checker.py", "checked, lowered"),
        ("grammar/tables.json", "checked, lowered"),
        ("reports/pages/html_page.py", "taken, taken"),
        *(
            pytest.param(part, "checked, lowered", marks=nightly)
            for part in (
                *("engine/expressions/formulas.py", "compiler/lower/lowering.py", "version.py"),
                "compiler/quantities/units.py",
            )
        ),
    ],
)
def test_one_byte_of_what_took_part_makes_it_anew(
    part: str, then: str, copied: Path, warm: Path
) -> None:
    file, original = copied / "qps" / part, copied / "original"
    data, before = file.read_bytes(), file.stat()
    at = data.rfind(b"\n", 0, -1)
    # The files themselves stay as they are, with their times, for the tests that come later.
    file.parent.rename(original)
    try:
        file.parent.mkdir()
        for one in original.iterdir():
            if one.name != file.name:
                file.with_name(one.name).symlink_to(one)
        # As where times are stored in whole seconds: size and time are alike.
        file.write_bytes(
            data[:at] + b" " + data[at + 1 :] if part.endswith("json") else data[:-1] + b"\r"
        )
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        sleep(0.2)
        assert by_another(copied, *SOLVE) == then
    finally:
        shutil.rmtree(file.parent)
        original.rename(file.parent)


def test_a_module_that_was_changed_while_it_runs_leaves_nothing(
    retained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "_BEGAN", 0.0)
    reported(capsys, "check", "shop.qps")
    assert not retained.exists()


def change(name: str, old: str, new: str) -> Callable[[], object]:
    def made() -> None:
        text = Path(name).read_text()
        assert old in text
        before = Path(name).stat()
        Path(name).write_text(text.replace(old, new))
        # As where a file system tells times in whole seconds: sizes and times are alike.
        os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))

    return made


def lead_elsewhere() -> None:
    """Have the same name lead to another file."""
    Path("other.csv").write_text(TABLE.replace("79", "99"))
    Path("runs.csv").unlink()
    Path("runs.csv").symlink_to("other.csv")


@pytest.mark.parametrize(
    "changed",
    [
        change("shop.qps", "1..1000", "1..2000"),
        change("hardware.qps", "1 core", "2 core"),
        change("runs.csv", "79", "99"),
        lead_elsewhere,
        Path("runs.csv").unlink,
        Path("hardware.qps").unlink,
    ],
    ids=["the spec", "a module", "a table", "a link", "a table is gone", "a module is gone"],
)
def test_what_changes_is_read_again(
    changed: Callable[[], object],
    retained: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    reported(capsys, "solve", "shop.qps")
    changed()
    found = reported(capsys, "solve", "shop.qps")
    assert checked == ["shop.qps", "shop.qps"]
    shutil.rmtree(retained)
    assert reported(capsys, "solve", "shop.qps") == found


def test_a_spec_goes_by_the_name_that_was_typed(
    retained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported(capsys, "check", "shop.qps")
    assert "./shop.qps" not in reported(capsys, "check", "shop.qps")[2]
    _, _, found = reported(capsys, "check", str(Path("shop.qps").resolve()))
    assert str(Path("shop.qps").resolve()) in found


@pytest.mark.parametrize("what", ["qps", "sys", "msgspec"])
def test_another_version_takes_nothing(
    what: str,
    retained: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reported(capsys, "check", "shop.qps")
    if what == "qps":
        monkeypatch.setattr(spec_cache, "__version__", "0.0.9")
    elif what == "sys":
        monkeypatch.setattr(sys, "version", "3.99.0")
    else:
        monkeypatch.setattr(spec_cache.msgspec, "__version__", "99")
    reported(capsys, "check", "shop.qps")
    assert len(checked) == 2
