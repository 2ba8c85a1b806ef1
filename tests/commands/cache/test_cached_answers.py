"""Answers, warnings and load graphs from stored values are the same as new ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers.cases.command_caches import ROOT, reported
from helpers.nightly import nightly
from helpers.specs import shop
from qps.commands.cache import spec_cache
from qps.compiler.ir import Model
from qps.compiler.lower import lowering
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.syntax import ast

SPECS = [
    path
    for folder in (ROOT / "specs", ROOT / "tests" / "applications")
    for path in sorted(folder.glob("*.qps"))
]
BY_DAY = {"jitter", "sfu", "thirteen_services"}


PARAM = "param cost = 1 ms/request\nmachine"


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


_WRITTEN = 4
"""Changes that advice writes into the text: each is a spec of its own, lowered anew."""


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
    written = len(lowered) - new
    assert written <= _WRITTEN
    shutil.rmtree(retained)
    assert reported(capsys, "solve", "shop.qps", "--set", "cost = 2 ms/request") == warm
    assert len(lowered) == 2 * new + written


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


def test_warnings_are_reported_again(
    retained: Path, checked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first = reported(capsys, "check", "shop.qps")
    assert "parameter `unused` is never used" in first[2]
    assert reported(capsys, "check", "shop.qps") == first
    assert checked == ["shop.qps"]
