"""Inputs that nobody would write: those that were answered with a fault once, and a few new ones.

`python tests/fuzz --minutes 10` looks for more.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from fuzz.inputs import Input
from fuzz.repositories import Piece, drawn_pieces, standing
from fuzz.repository_running import retained_repository, run_repositories, wrong
from fuzz.running import fault, retained, run_batch
from qps.reviewing import git_command

FOUND = Path(__file__).parents[1] / "fuzz" / "found"
_SECONDS = 60.0
HAS_LINKS = pytest.mark.skipif(os.name == "nt", reason="links, pipes, a script with #!")


@pytest.mark.parametrize("name", sorted(path.name for path in FOUND.iterdir() if path.is_dir()))
def test_what_was_found_once_is_reported_in_words(name: str) -> None:
    found = fault(retained(FOUND / name), _SECONDS)
    assert found is None, found.reported


@HAS_LINKS
@pytest.mark.parametrize("name", sorted(path.name for path in FOUND.glob("*.json")))
def test_a_repository_that_was_found_once_does_no_harm(name: str) -> None:
    found = wrong(*retained_repository(FOUND / name))
    assert found is None, found.reported


@HAS_LINKS
def test_hostile_repositories_do_no_harm() -> None:
    batch = run_repositories(seed=2026, count=3)
    assert batch.tried["key"] > 10
    assert not batch.findings, batch.findings[0].reported


@HAS_LINKS
def test_harm_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where git runs in the repository itself, as it did once, its author's program runs."""
    pieces = drawn_pieces(random.Random("harm"), 20)
    harm = Piece("key", ("core.fsmonitor", "{script}"))
    monkeypatch.setattr(git_command, "OFF", {})
    monkeypatch.setattr(git_command, "_READS_THE_WORK_TREE", frozenset())
    monkeypatch.setattr(git_command, "_NAME_COMMANDS", git_command._NAME_COMMANDS | {"ls-files"})
    monkeypatch.setattr("fuzz.repository_running.drawn_pieces", lambda *_: (*pieces, harm))
    first, *_ = run_repositories(seed=1, count=1).findings
    assert "a program ran" in first.where
    assert harm in first.pieces
    assert len(first.pieces) < 10
    again, command = retained_repository(first.keep(tmp_path))
    assert (again, command) == (first.pieces, first.command)


def test_inputs_that_nobody_would_write_are_reported_in_words() -> None:
    batch = run_batch(seed=2026, inputs=100, seconds=_SECONDS)
    assert batch.tried["text"] > 10
    assert not batch.findings, batch.findings[0].reported


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object) -> None:
        if "stream" in source.text:  # type: ignore[attr-defined]
            raise ValueError("a fault of ours")

    monkeypatch.setattr("fuzz.running.check_source", fail)
    monkeypatch.setattr(
        "fuzz.running.made",
        lambda draw: Input(kind="text", files={"main.qps": b"users N\nstream s {\n}\n" * 20}),
    )
    [finding] = run_batch(seed=1, inputs=2, seconds=_SECONDS).findings
    assert finding.given.files["main.qps"].count(b"\n") <= 1
    assert "a fault of ours" in finding.reported


def test_pieces_write_nothing_through_links_of_others(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pieces = (
        Piece("link", ("specs/x.qps", str(elsewhere))),
        Piece("file", ("specs/x.qps/a.qps", "text")),
        Piece("lines", ("specs/x.qps/.gitmodules", "text")),
        Piece("link", ("lib", str(elsewhere))),
        Piece("embedded", ("lib/.git", "true")),
        Piece("folder", ("lib/deep/b.qps",)),
        Piece("link", ("specs/loop", "loop")),
        Piece("file", ("specs/loop/a.qps", "text")),
    )
    folder = tmp_path / "made"
    folder.mkdir()
    repository = standing(folder, pieces)
    assert list(elsewhere.iterdir()) == []
    assert [one.kind for one in repository.pieces] == ["link", "link", "link"]
