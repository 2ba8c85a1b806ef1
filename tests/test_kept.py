"""What a command keeps for the next one: never stale, never believed of others, never needed."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from helpers.specs import shop
from qps.cli import main
from qps.commands import kept_files, kept_specs
from qps.commands.kept_files import KeptFiles
from qps.compiler.ir import Model
from qps.compiler.lower import lowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import check_source

ROOT = Path(__file__).parents[1]
SPECS = [
    path
    for folder in (ROOT / "specs", ROOT / "tests" / "applications")
    for path in sorted(folder.glob("*.qps"))
]
HARDWARE = """
machine server { cpu 1 core, idle fit "runs.csv" }
component answer { cpu fit "runs.csv" measured on server }
"""
TABLE = "cpu in %,request/s\n20,100\n40,200\n61,300\n79,400\n"
SHOP = """
use std.net as net
use "hardware.qps" as hw
param unused = 3 request/s
users N in 1..1000
topology {
  node here = hw.server
  node user = hw.server * N
  link wan = net.e1 between user, here
}
stream requests for each user {
  traffic 1 request/s, 10 byte/request
  at user { }
  over wan
  at here { hw.answer }
}
"""


PARAM = "param cost = 1 ms/request\nmachine"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what is kept; a spec with a module and a table lies where we are."""
    monkeypatch.delenv("QPS_CACHE")
    monkeypatch.setenv("QPS_CACHE_DIR", str(tmp_path / "kept"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name, text in {"shop.qps": SHOP, "hardware.qps": HARDWARE, "runs.csv": TABLE}.items():
        Path(name).write_text(text)
    return tmp_path / "kept"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the labels of all specs that are really checked from now on."""
    found: list[str] = []

    def noting(source: object, importer: object = None) -> object:
        found.append(source.label)  # type: ignore[attr-defined]
        return check_source(source, importer)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_specs, "check_source", noting)
    return found


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return the status of a command and all that it tells."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_answers_and_warnings_are_the_same(
    path: Path, kept: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    solve = ("solve", "--format", "json", "--no-advice", str(path))
    first = told(capsys, *solve), told(capsys, "check", str(path))
    assert checked == [str(path)]
    assert (told(capsys, *solve), told(capsys, "check", str(path))) == first
    assert checked == [str(path)]
    assert len(list(kept.iterdir())) == 2  # one with the graphs that were lowered of it


def test_a_spec_that_was_kept_takes_settings_and_changes(
    kept: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    spec = str(ROOT / "specs" / "sfu.qps")
    asked = ("--set", "seen=8", "--set", "simulcast = off")
    commands = (
        ("solve", *asked, spec),
        ("solve", "--for", "cpus", "--given", "N = 300", spec),
        ("explain", spec, "acceptable"),
        ("test", spec),
        ("solve", "--set", "nothing=8", spec),
        ("solve", "--set", "size=8 byte", spec),
    )
    warm = [told(capsys, "check", spec), *(told(capsys, *words) for words in commands)]
    assert checked == [spec]
    shutil.rmtree(kept)
    for words, found in zip(commands, warm[1:], strict=True):
        shutil.rmtree(kept, ignore_errors=True)
        again = told(capsys, *words)
        assert [drop_times(text) for text in again[1:]] == [drop_times(t) for t in found[1:]]
        assert again[0] == found[0]


def drop_times(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if " s)" not in line)


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of all models that are really lowered from now on."""
    found: list[str] = []
    real = lowering._lowered_model

    def noting(model: Model, *asked: Any, **more: Any) -> LoadGraph:
        found.append(model.name)
        return real(model, *asked, **more)

    monkeypatch.setattr(lowering, "_lowered_model", noting)
    return found


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("sfu", "seen=8"),
        ("audioconference", "power=30 ws.SPECint92"),
        ("flying", "servers=60"),
        ("problem_solving", "N=2..50"),
        ("jitter", "N=2..9"),
        ("turn_relay", "N=1..200"),
    ],
)
def test_graphs_that_were_kept_answer_as_new_ones(
    name: str, setting: str, kept: Path, lowered: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    solve = ("solve", "--format", "json", str(ROOT / "specs" / f"{name}.qps"))
    first, new = told(capsys, *solve), len(lowered)
    assert new > 0
    assert told(capsys, *solve) == first
    assert len(lowered) - new <= new / 8  # of very many that are alike, a few are kept
    new = len(lowered)
    warm = told(capsys, *solve, "--set", setting)
    with_setting = len(lowered) - new
    shutil.rmtree(kept)
    assert told(capsys, *solve, "--set", setting) == warm
    assert len(lowered) - new - with_setting >= with_setting


def test_what_advice_shares_is_kept(
    kept: Path, lowered: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shop.qps").write_text(
        shop(12).replace("1 ms/request", "cost").replace("machine", PARAM, 1)
    )
    first = told(capsys, "solve", "shop.qps")
    new = len(lowered)
    assert told(capsys, "solve", "shop.qps") == first
    warm = told(capsys, "solve", "shop.qps", "--set", "cost = 2 ms/request")
    assert len(lowered) == new
    shutil.rmtree(kept)
    assert told(capsys, "solve", "shop.qps", "--set", "cost = 2 ms/request") == warm
    assert len(lowered) == 2 * new


def test_graphs_of_another_engine_are_lowered_again(
    kept: Path,
    checked: list[str],
    lowered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "solve", "shop.qps")
    before = len(lowered)
    monkeypatch.setattr(kept_specs, "build", lambda *rooms: f"another {'engine' in rooms}")
    assert told(capsys, "solve", "shop.qps") == first
    assert len(lowered) == 2 * before
    monkeypatch.setattr(
        kept_specs, "build", lambda *rooms: f"{'a third' * ('engine' in rooms) or 'another False'}"
    )
    assert told(capsys, "solve", "shop.qps") == first
    assert len(lowered) == 3 * before
    assert checked == ["shop.qps"] * 2


def test_warnings_are_told_again(
    kept: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first = told(capsys, "check", "shop.qps")
    assert "nothing depends on parameter `unused`" in first[2]
    assert told(capsys, "check", "shop.qps") == first
    assert checked == ["shop.qps"]


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
    kept: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    told(capsys, "solve", "shop.qps")
    changed()
    found = told(capsys, "solve", "shop.qps")
    assert checked == ["shop.qps", "shop.qps"]
    shutil.rmtree(kept)
    assert told(capsys, "solve", "shop.qps") == found


def test_a_spec_goes_by_the_name_that_was_typed(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "check", "shop.qps")
    assert "./shop.qps" not in told(capsys, "check", "shop.qps")[2]
    _, _, found = told(capsys, "check", str(Path("shop.qps").resolve()))
    assert str(Path("shop.qps").resolve()) in found


@pytest.mark.parametrize("what", ["build", "sys", "msgspec"])
def test_another_version_takes_nothing(
    what: str,
    kept: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told(capsys, "check", "shop.qps")
    if what == "build":
        monkeypatch.setattr(kept_specs, "build", lambda *_: "qps 0.0.9+0123")
    elif what == "sys":
        monkeypatch.setattr(sys, "version", "3.99.0")
    else:
        monkeypatch.setattr(kept_specs.msgspec, "__version__", "99")
    told(capsys, "check", "shop.qps")
    assert len(checked) == 2


class Harm:
    """What calls something when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("harmed",)


def sealed(path: Path, data: bytes) -> bytes:
    """Return bytes as they stand in a file, in place of those that do."""
    key = kept_specs.key_of(kept_specs.read_spec(Path("shop.qps")).value, "compiler", "grammar")  # type: ignore[arg-type]
    assert path.read_bytes()[:32] == sha256(key.encode() + b"\0" + path.read_bytes()[32:]).digest()
    return sha256(key.encode() + b"\0" + data).digest() + data


DAMAGES: dict[str, Callable[[Path], bytes]] = {
    "empty": lambda path: b"",
    "cut off": lambda path: path.read_bytes()[:-1],
    "one bit": lambda path: path.read_bytes()[:-9] + b"\0" + path.read_bytes()[-8:],
    "longer": lambda path: path.read_bytes() + b".",
    "text": lambda path: b"that was a file of mine" * 9,
    "no spec": lambda path: sealed(path, pickle.dumps({"spec": 3})),
    "no pickle": lambda path: sealed(path, b"spec"),
    "harm": lambda path: sealed(path, pickle.dumps(Harm())),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_made_again(
    damage: Callable[[Path], bytes],
    kept: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "check", "shop.qps")
    whole = only(kept).read_bytes()
    only(kept).write_bytes(damage(only(kept)))
    for _ in range(2):
        assert told(capsys, "check", "shop.qps") == first
    assert len(checked) == 2
    assert len(only(kept).read_bytes()) == len(whole)
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
    kept: Path,
    checked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "check", "shop.qps")
    if not whole_folder:
        made(only(kept))
    elif made is a_pipe:
        shutil.rmtree(kept)
        os.mkfifo(kept)
    else:
        made(kept)
    before = list(kept.iterdir()) if whole_folder and kept.is_dir() else []
    assert told(capsys, "check", "shop.qps") == first
    assert len(checked) == 2
    if before:
        assert list(kept.iterdir()) == before  # nothing is written there either


@pytest.mark.parametrize("place", ["runs.csv/kept", "/proc/nowhere/kept", "/dev/null"])
def test_where_nothing_can_be_kept_nothing_is(
    place: str,
    kept: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "check", "shop.qps")
    monkeypatch.setenv("QPS_CACHE_DIR", place)
    assert told(capsys, "check", "shop.qps") == first
    assert len(checked) == 2


def test_a_folder_that_is_only_read_is_read(
    kept: Path,
    checked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = told(capsys, "check", "shop.qps")

    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refused)
    monkeypatch.setattr(os, "replace", refused)
    assert told(capsys, "check", "shop.qps") == first
    assert checked == ["shop.qps"]
    Path("shop.qps").write_text(SHOP + "\n")
    assert told(capsys, "check", "shop.qps") == first
    assert len(list(kept.iterdir())) == 1  # what could not be renamed is gone


def test_several_at_once_are_told_the_same(kept: Path) -> None:
    command = [sys.executable, "-m", "qps", "check", "shop.qps"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    running = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(4)
    ]
    found = {process.communicate()[1] for process in running}
    assert len(found) == 1
    assert "nothing depends on parameter `unused`" in found.pop()
    assert only(kept).stat().st_mode & 0o777 == 0o600
    assert kept.stat().st_mode & 0o777 == 0o700


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    files = KeptFiles(folder=tmp_path / "kept", largest=1000, most=3000)
    files.write("too large", b"." * 1001)
    assert files.read("too large") is None
    for age, key in enumerate("abc"):
        files.write(key, key.encode() * 900)
        os.utime(tmp_path / "kept" / kept_files._name(key), (age, age))
    stranger = tmp_path / "kept" / "thesis.txt"
    stranger.write_text("x" * 9000)
    abandoned = tmp_path / "kept" / f"{kept_files._name('z')}.0123456789abcdef.tmp"
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
def test_where_files_are_kept(
    environment: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    here = {name: value.format(here=tmp_path) for name, value in environment.items()}
    found = kept_files.kept_files(here)
    where = None if found is None else str(found.folder)
    assert where == (expected and expected.format(here=tmp_path))


def test_in_the_home_of_another_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert kept_files.kept_files({"HOME": str(tmp_path)}) is None


def test_what_is_nested_as_deep_as_can_be_is_checked_all_the_same(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = "(" * 90 + "1" + " + 1 request/request)" * 90
    Path("shop.qps").write_text(SHOP.replace("3 request/s", f"3 request/s * {deep}"))
    first = told(capsys, "check", "shop.qps")
    assert told(capsys, "check", "shop.qps") == first
