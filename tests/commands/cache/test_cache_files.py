"""Files of stored values: damaged, written by others, not writable, too many."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from helpers.cases.command_caches import ROOT, SHOP, reported
from qps.commands.cache import cache_files, spec_cache
from qps.commands.cache.cache_files import CacheFiles
from qps.commands.cache.value_encoding import Types, encoded


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


class Harm:
    """What calls something when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("harmed",)


def sealed(path: Path, data: bytes) -> bytes:
    """Return bytes as they stand in a file, in place of those that do."""
    source = spec_cache.read_spec(Path("shop.qps")).value
    assert source is not None
    key = spec_cache.key_of(source, "checked")
    assert path.read_bytes()[:32] == sha256(key.encode() + b"\0" + path.read_bytes()[32:]).digest()
    return sha256(key.encode() + b"\0" + data).digest() + data


def stored(value: object) -> bytes:
    return encoded(value, Types())[0]


DAMAGES: dict[str, Callable[[Path], bytes]] = {
    "empty": lambda path: b"",
    "cut off": lambda path: path.read_bytes()[:-1],
    "one bit": lambda path: path.read_bytes()[:-9] + b"\0" + path.read_bytes()[-8:],
    "longer": lambda path: path.read_bytes() + b".",
    "text": lambda path: b"that was a file of mine" * 9,
    "no value": lambda path: sealed(path, b"spec"),
    "no spec": lambda path: sealed(path, stored((3, (), "", ""))),
    "too little": lambda path: sealed(path, stored((3, ()))),
    "no files": lambda path: sealed(path, stored((3, 4, 5, 6))),
    "harm": lambda path: sealed(path, pickle.dumps(Harm())),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_made_again(
    damage: Callable[[Path], bytes],
    retained: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = reported(capsys, "check", "shop.qps")
    whole = only(retained).read_bytes()
    only(retained).write_bytes(damage(only(retained)))
    for _ in range(2):
        assert reported(capsys, "check", "shop.qps") == first
    assert len(checked) == 2
    assert len(only(retained).read_bytes()) == len(whole)
    assert not Path("harmed").exists()


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def of_somebody_else(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize(
    "made",
    [a_link, a_pipe, of_somebody_else, lambda path: path.chmod(0o620)],
    ids=["a link", "a pipe", "of somebody else", "others may write it"],
)
@pytest.mark.parametrize("whole_folder", [False, True], ids=["file", "folder"])
def test_what_others_may_have_written_is_not_read(
    made: Callable[[Path], None],
    whole_folder: bool,
    retained: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = reported(capsys, "check", "shop.qps")
    if not whole_folder:
        made(only(retained))
    elif made is a_pipe:
        shutil.rmtree(retained)
        os.mkfifo(retained)
    else:
        made(retained)
    before = list(retained.iterdir()) if whole_folder and retained.is_dir() else []
    assert reported(capsys, "check", "shop.qps") == first
    assert len(checked) == 2
    if before:
        assert list(retained.iterdir()) == before  # nothing is written there either


@pytest.mark.parametrize("place", ["runs.csv/kept", "/proc/nowhere/kept", "/dev/null"])
def test_where_nothing_can_be_stored_nothing_is(
    place: str,
    retained: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = reported(capsys, "check", "shop.qps")
    monkeypatch.setenv("QPS_CACHE_DIR", place)
    assert reported(capsys, "check", "shop.qps") == first
    assert len(checked) == 2


def test_a_folder_that_is_only_read_is_read(
    retained: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = reported(capsys, "check", "shop.qps")

    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refused)
    monkeypatch.setattr(os, "replace", refused)
    assert reported(capsys, "check", "shop.qps") == first
    assert checked == ["shop.qps"]
    Path("shop.qps").write_text(SHOP + "\n")
    assert reported(capsys, "check", "shop.qps") == first
    assert len(list(retained.iterdir())) == 1  # what could not be renamed is gone


def test_simultaneous_runs_print_the_same(retained: Path) -> None:
    command = [sys.executable, "-m", "qps", "check", "shop.qps"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    running = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(4)
    ]
    found = {process.communicate()[1] for process in running}
    assert len(found) == 1
    assert "parameter `unused` is never used" in found.pop()
    assert only(retained).stat().st_mode & 0o777 == 0o600
    assert retained.stat().st_mode & 0o777 == 0o700


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    files = CacheFiles(folder=tmp_path / "kept", largest=1000, most=3000)
    files.write("too large", b"." * 1001)
    assert files.read("too large") is None
    for age, key in enumerate("abc"):
        files.write(key, key.encode() * 900)
        os.utime(tmp_path / "kept" / cache_files._name(key), (age, age))
    stranger = tmp_path / "kept" / "thesis.txt"
    stranger.write_text("x" * 9000)
    abandoned = tmp_path / "kept" / f"{cache_files._name('z')}.0123456789abcdef.tmp"
    abandoned.write_text("half of it")
    os.utime(abandoned, (0, 0))
    assert files.read("a") == b"a" * 900
    files.write("d", b"d" * 900)
    assert files.read("b") is None
    assert [files.read(key) is not None for key in "acd"] == [True, True, True]
    assert stranger.exists()
    assert not abandoned.exists()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"HOME": ""}, None),
        ({"HOME": "{here}", "QPS_CACHE": "off"}, None),
        ({"HOME": "{here}", "QPS_CACHE": "OFF", "QPS_CACHE_DIR": "/x"}, None),
        ({"HOME": "{here}"}, "{here}/.cache/qps"),
        ({"HOME": "{here}", "XDG_CACHE_HOME": "relative"}, "{here}/.cache/qps"),
        ({"HOME": "{here}", "XDG_CACHE_HOME": "{here}/c"}, "{here}/c/qps"),
        ({"HOME": "{here}", "QPS_CACHE_DIR": "own"}, "own"),
        ({"HOME": "/nobody/at/home"}, "/nobody/at/home/.cache/qps" if os.geteuid() == 0 else None),
    ],
)
def test_where_files_are_stored(
    environment: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    here = {name: value.format(here=tmp_path) for name, value in environment.items()}
    found = cache_files.cache_files(here)
    where = None if found is None else str(found.folder)
    assert where == (expected and expected.format(here=tmp_path))


def test_in_the_home_of_another_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert cache_files.cache_files({"HOME": str(tmp_path)}) is None


def test_what_is_nested_as_deep_as_can_be_is_checked_all_the_same(
    retained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "(" * 90 + "1" + " + 1 request/request)" * 90
    Path("shop.qps").write_text(SHOP.replace("3 request/s", f"3 request/s * {deep}"))
    first = reported(capsys, "check", "shop.qps")
    assert reported(capsys, "check", "shop.qps") == first
