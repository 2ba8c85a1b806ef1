"""What a command keeps for the next one: never stale, never believed of others, never needed."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from time import sleep
from typing import Any

import msgspec
import pytest

from helpers.nightly import nightly
from helpers.specs import shop
from qps import build
from qps.cli import main
from qps.commands.cache import cache_files, spec_cache
from qps.commands.cache.cache_files import CacheFiles
from qps.commands.cache.value_encoding import Types, encoded
from qps.compiler.ir import Model
from qps.compiler.lower import lowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import check_source
from qps.compiler.syntax import ast

ROOT = Path(__file__).parents[2]
SPECS = [
    path
    for folder in (ROOT / "specs", ROOT / "tests" / "applications")
    for path in sorted(folder.glob("*.qps"))
]
BY_DAY = {"jitter", "sfu", "virtual_cockpit", "mqtt_broker", "thirteen_services"}
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
def retained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what is kept; a spec with a module and a table lies where we are."""
    return put_at_work(tmp_path, monkeypatch)


def put_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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

    monkeypatch.setattr(spec_cache, "check_source", noting)
    return found


def reported(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Return the status of a command and all that it tells."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in BY_DAY else [nightly])
        for path in SPECS
    ],
)
def test_answers_and_warnings_are_the_same(
    path: Path, retained: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    solve = ("solve", "--format", "json", "--no-advice", str(path))
    first = reported(capsys, *solve), reported(capsys, "check", str(path))
    assert checked == [str(path)]
    assert (reported(capsys, *solve), reported(capsys, "check", str(path))) == first
    assert checked == [str(path)]
    assert len(list(retained.iterdir())) == 2  # one with the graphs that were lowered of it


def test_a_cached_spec_takes_settings_and_changes(
    retained: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    spec = str(ROOT / "specs" / "sfu.qps")
    options = ("--set", "seen=8", "--set", "simulcast = off")
    commands = (
        ("solve", *options, spec),
        ("solve", "--for", "cpus", "--users", "N = 300", spec),
        ("explain", spec, "acceptable"),
        ("test", spec),
        ("solve", "--set", "nothing=8", spec),
        ("solve", "--set", "size=8 byte", spec),
    )
    warm = [reported(capsys, "check", spec), *(reported(capsys, *words) for words in commands)]
    assert checked == [spec]
    shutil.rmtree(retained)
    for words, found in zip(commands, warm[1:], strict=True):
        shutil.rmtree(retained, ignore_errors=True)
        again = reported(capsys, *words)
        assert [drop_times(text) for text in again[1:]] == [drop_times(t) for t in found[1:]]
        assert again[0] == found[0]


def drop_times(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if " s)" not in line)


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of all models that are really lowered from now on with fixed numbers."""
    found: list[str] = []
    real = lowering._load_graph

    def noting(model: Model, configuration: Any, moving: Any, **more: Any) -> LoadGraph:
        if not moving:  # those of samples and matrices are never stored
            found.append(model.name)
        return real(model, configuration, moving, **more)

    monkeypatch.setattr(lowering, "_load_graph", noting)
    return found


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("sfu", "seen=8"),
        pytest.param("audioconference", "power=30 ws.SPECint92", marks=nightly),
        pytest.param("flying", "servers=60", marks=nightly),
        ("problem_solving", "N=2..50"),
        ("jitter", "N=2..9"),
        ("turn_relay", "N=1..200"),
    ],
)
def test_cached_graphs_answer_as_new_ones(
    name: str, setting: str, retained: Path, lowered: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    solve = ("solve", "--format", "json", str(ROOT / "specs" / f"{name}.qps"))
    first, new = reported(capsys, *solve), len(lowered)
    assert new > 0
    assert reported(capsys, *solve) == first
    assert len(lowered) - new <= new / 8  # of very many that are alike, a few are kept
    new = len(lowered)
    warm = reported(capsys, *solve, "--set", setting)
    with_setting = len(lowered) - new
    shutil.rmtree(retained)
    assert reported(capsys, *solve, "--set", setting) == warm
    assert len(lowered) - new - with_setting >= with_setting


def test_what_advice_shares_is_cached(
    retained: Path, lowered: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shop.qps").write_text(
        shop(12).replace("1 ms/request", "cost").replace("machine", PARAM, 1)
    )
    first = reported(capsys, "solve", "shop.qps")
    new = len(lowered)
    assert reported(capsys, "solve", "shop.qps") == first
    warm = reported(capsys, "solve", "shop.qps", "--set", "cost = 2 ms/request")
    assert len(lowered) == new
    shutil.rmtree(retained)
    assert reported(capsys, "solve", "shop.qps", "--set", "cost = 2 ms/request") == warm
    assert len(lowered) == 2 * new


COUNTED = """
import sys
from qps.commands.cache import spec_cache as kept_specs
from qps.compiler.lower import lowering
made = []
def noting(module, name):
    real = getattr(module, name)
    setattr(module, name, lambda *a, **more: made.append(name) or real(*a, **more))
noting(kept_specs, "check_source")
noting(lowering, "_load_graph")
from qps.cli import main
main(sys.argv[1:])
print("checked" if "check_source" in made else "taken", end=", ")
print("lowered" if made.count("_load_graph") > 1 else "taken")  # one graph is never kept
"""


SOLVE = ("solve", "--no-advice", "shop.qps")


def by_another(root: Path, *words: str) -> str:
    """Return what a process whose qps stands in a folder took, and what it made."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-c", COUNTED, *words]
    output = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True, timeout=600
    )
    return output.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a qps of its own."""
    root = tmp_path_factory.mktemp("copied")
    ignored = shutil.ignore_patterns("*.pyc.*", "node_modules", "specs")
    shutil.copytree(ROOT / "src" / "qps", root / "qps", ignore=ignored)
    (root / "qps" / "specs").mkdir()
    return root


@pytest.fixture(scope="module")
def made_warm(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what another process kept, which a third one takes."""
    folder = tmp_path_factory.mktemp("warm")
    with pytest.MonkeyPatch.context() as patch:
        put_at_work(folder, patch)
        sleep(0.2)  # else its files are as new as the process
        by_another(copied, *SOLVE)
        assert by_another(copied, *SOLVE) == "taken, taken"
    return folder


@pytest.fixture
def warm(made_warm: Path, retained: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work there, with a copy of what was kept; return its folder."""
    shutil.copytree(made_warm / "kept", retained)
    monkeypatch.chdir(made_warm / "work")
    return retained


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
    monkeypatch.setattr(build, "files", lambda _: own)
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


@pytest.mark.usefixtures("retained")
def test_claims_of_modules_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    first = spec_cache.load(Path("shop.qps"))
    again = spec_cache.load(Path("shop.qps"))
    claims = [
        [one for module in spec.program.modules for one in module.syntax.every(ast.Expect)]
        for spec in (first, again)
    ]
    assert claims[0]
    assert not claims[1]
    assert [*again.program.main.names] == [*first.program.main.names]
    Path("claims.qps").write_text(CLAIMS)  # and nothing else: it is a module still
    for _ in range(2):
        assert spec_cache.load(Path("claims.qps")).program.is_module
        assert reported(capsys, "solve", "claims.qps")[0] == 2


CLAIMS = 'expect hours "hours" { 1000 ms ~ 1 s within 0 % }\n'


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
        # As where times are told in whole seconds: size and time are alike.
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


def test_warnings_are_reported_again(
    retained: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first = reported(capsys, "check", "shop.qps")
    assert "parameter `unused` is never used" in first[2]
    assert reported(capsys, "check", "shop.qps") == first
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
