"""What the wheel holds, and what `qps check` does not wait for."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.stdlib import module_names, module_text

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = (
    "grammar",
    "engine",
    "compiler",
    "solver",
    "stdlib",
    "specs",
    "reports",
    "simulation",
    "editing",
    "reviewing",
)


def test_every_folder_is_linked() -> None:
    for folder in FOLDERS:
        link = ROOT / "src" / "qps" / folder
        # An sdist has no links, and a checkout of Windows files in place of them.
        assert not link.is_dir() or link.resolve() == ROOT / folder
        assert PROJECT["tool"]["setuptools"]["package-dir"][f"qps.{folder}"] == folder
        assert (ROOT / folder / "__init__.py").exists()


def test_tools_that_read_code_find_each_module_once() -> None:
    """Pyright, as mypy, reads through the links of src/qps alone, and ctags follows none."""
    assert PROJECT["tool"]["pyright"]["include"] == ["src"]
    assert (ROOT / ".ctags.d" / "qps.ctags").read_text(encoding="utf-8").endswith("--links=no\n")
    linked = [path for path in (ROOT / "src" / "qps").iterdir() if path.is_dir()]
    assert len({path.resolve() for path in linked}) == len(linked)


_BUILT = """
from qps.build import build, checksum_of, parts_at_work
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
assert check_source(Source("a.qps", "import std.sockets\\n")).value is None
assert "grammar/tables.json" in parts_at_work()
assert checksum_of(parts_at_work()) is not None
print(build())
"""


def test_a_checkout_without_links_works_as_any_other(tmp_path: Path) -> None:
    # Where git cannot make links (Windows) it writes files that say where they would lead.
    for folder in FOLDERS:
        (tmp_path / folder).symlink_to(ROOT / folder)
    bare = tmp_path / "src" / "qps"
    bare.mkdir(parents=True)
    for entry in (ROOT / "src" / "qps").iterdir():
        if entry.name in FOLDERS:
            (bare / entry.name).write_text(f"../../{entry.name}")
        else:
            (bare / entry.name).symlink_to(entry)
    output = {
        subprocess.run(
            [sys.executable, "-c", _BUILT],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(source)},
        ).stdout
        for source in (ROOT / "src", tmp_path / "src")
    }
    assert len(output) == 1  # one checksum of all files


def test_every_folder_with_code_is_listed() -> None:
    # Folder by folder, as a search from src/ would not follow the links.
    code = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    inside = {path.relative_to(ROOT).parent.parts for path in code}
    own = ROOT / "src" / "qps"
    inside |= {path.relative_to(own).parent.parts for path in (own / "commands").rglob("*.py")}
    names = {".".join(("qps", *parts)) for parts in inside}
    assert names | {"qps"} == set(PROJECT["tool"]["setuptools"]["packages"])


def test_no_two_modules_share_a_name() -> None:
    # But for the checked model, which has a module for each of the syntax tree's.
    paths = [path for folder in (*FOLDERS, "src/qps") for path in (ROOT / folder).rglob("*.py")]
    own = [path for path in paths if path.parent != ROOT / "compiler" / "syntax" / "ast"]
    names = Counter(path.name for path in own if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", module_names())
def test_every_module_of_the_standard_library_checks_alone(name: str) -> None:
    assert check_source(Source(name, module_text(name))).diagnostics == ()


@pytest.mark.parametrize("name", [n for n in module_names() if ".claypool1997." in n])
def test_every_number_of_the_thesis_names_its_place(name: str) -> None:
    outcome = check_source(Source(name, module_text(name)))
    assert outcome.value is not None
    model = outcome.value.model
    for thing in [*model.machines.values(), *model.networks.values(), *model.parameters]:
        assert "Claypool 1997" in (thing.source or ""), thing.name


SLOW = {"sympy", "mpmath", "flint", "numpy", "pyarrow", "networkx", "jinja2", "lark"}
"""What takes long to import: what a command does not need it does not wait for."""

IMPORTED = """
import sys
from qps.cli import main
status = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(status)
"""

SOLVES: tuple[str, ...] = ()
"""Commands that solve without any of it. `solve -q --no-advice specs/sfu.qps` belongs here once
solving carries no sympy."""

WAITS_FOR: list[tuple[str, set[str]]] = [
    ("--version", {"msgspec"}),
    ("--help", {"msgspec"}),
    ("check -q specs/sfu.qps", set()),
    ("check -q specs/mqtt_broker.qps", set()),  # finds ways through its topology
    ("check -q specs/live_stream.qps", set()),  # fits costs to tables
    ("check -q specs/problem_solving.qps", set()),
    ("check -q specs/jitter.qps", set()),  # reads recorded packets
    ("fmt --check specs/audioconference.qps", set()),
    *((command, set[str]()) for command in SOLVES),
]
"""Commands, and what they may not import beside `SLOW`."""


@pytest.mark.parametrize(("command", "more"), WAITS_FOR)
def test_commands_wait_for_nothing_that_they_do_not_need(command: str, more: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *command.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    if not command.startswith("--"):  # these end by themselves
        assert done.returncode == 0, done.stderr
        assert "qps.cli" in done.stderr.split()
    assert set(done.stderr.split()) & (SLOW | more) == set()


def test_the_playground_starts_without_numpy() -> None:
    folders = (ROOT / "playground" / "python", ROOT / "src")
    subprocess.run(
        [sys.executable, "-c", "import editor_bridge"],
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))},
    )


def test_ci_tries_what_is_declared() -> None:
    output = subprocess.run(
        [sys.executable, ROOT / ".ci" / "minimums.py"], capture_output=True, text=True, check=True
    ).stdout.split()
    own = PROJECT["project"]
    declared = {*own["dependencies"]}
    declared |= {
        one for extra in ("dask", "docs", "test") for one in own["optional-dependencies"][extra]
    }
    declared = {one.replace("==", ">=") for one in declared if not one.startswith("qps[")}
    assert {one.replace("==", ">=") for one in output} == declared


WITHOUT_ARROW = """
import sys
sys.modules["pyarrow"] = None  # importing it fails, as where it is not installed
from qps.cli import main
sys.exit(main(sys.argv[1:]))
"""


def _without_arrow(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_ARROW, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


def test_only_matrices_need_arrow_and_say_so(tmp_path: Path) -> None:
    spec = tmp_path / "small.qps"
    spec.write_text(
        "users N in 1..200\nparam job = 10 ms in 1..100 ms\nmachine box { cpu 1 core }\n"
        "component work { cpu job / (1 request) }\ntopology { node host = box }\n"
        "stream jobs { traffic N * 1 request/s; at host { work } }\n"
        "matrix many { job in [5 ms, 20 ms] }\n"
        'expect all "of both" {\n  every configuration of many: largest_acceptable >= 1\n'
        "  source model\n}\n"
    )
    assert _without_arrow("solve", "-q", spec).returncode == 0
    assert _without_arrow("report", "-q", spec, "-o", tmp_path / "page.html").returncode == 0
    assert _without_arrow("test", spec).returncode == 0
    matrix = _without_arrow("matrix", spec)
    assert matrix.returncode == 2
    assert "small.qps:7" in matrix.stderr
    assert "matrix `many` requires pyarrow, which is not installed" in matrix.stderr
    assert 'pip install "pyarrow>=' in matrix.stderr
    (tmp_path / "rows.csv").write_text("a\n1\n")
    result = _without_arrow("report", tmp_path / "rows.csv")
    assert result.returncode == 2
    assert 'pip install "pyarrow>=' in result.stderr


def test_an_sdist_holds_what_its_tests_need() -> None:
    """What `.ci/run` builds by way of the sdist: what git has, and nothing else."""
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = {
        word for line in lines if line.startswith(("include", "graft")) for word in line.split()
    }
    packages = {*FOLDERS, "src"}
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and _is_included(path)}
    assert tops - packages - named == set()
    if (ROOT / ".git").exists():
        words = ["git", "-C", str(ROOT), "ls-files", "-z", "--", ":(glob)*"]
        listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for file in listed.split("\0")[:-1]:
            assert any(fnmatch(file, pattern) for pattern in named), file


def _is_included(folder: Path) -> bool:
    """Return whether a folder is part of the repository: not made by a tool, and not empty."""
    made = {"node_modules", "build", "dist", ".git", ".venv"}
    is_made = folder.name in made or folder.name.startswith(
        (".mypy", ".ruff", ".pytest", ".hypothesis", ".import", "__", "qps.egg")
    )
    return not is_made and any(folder.iterdir())  # git has no empty folders
