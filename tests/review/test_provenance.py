"""When a page was made, with which qps, and of which revision of its spec."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from helpers.reports import page_of
from qps.cli import main
from qps.commands.revisions import provenance
from qps.commands.revisions.provenance import origin_line
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import load
from qps.version import __version__

SPEC = """users N in 1..100
machine box { cpu 1 core }
component work { cpu 10 ms/packet }
topology { node host = box }
stream flow { traffic N * 1 packet/s; at host { work } }
"""
DAY = f"Generated 14 November 2023 by QPS {__version__}"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    file = tmp_path / "app.qps"
    file.write_text(SPEC, "utf-8")
    return file


def run_git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    done = subprocess.run(
        ("git", "-C", folder, *identity, *arguments), check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def committed(file: Path) -> str:
    """Put a folder under git; the commit."""
    run_git(file.parent, "init", "--quiet")
    run_git(file.parent, "add", ".")
    run_git(file.parent, "commit", "--quiet", "-m", "begun")
    return run_git(file.parent, "rev-parse", "HEAD")[:10]


def test_the_day_and_the_version_are_reported(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert origin_line([load(spec)]) == DAY
    for other in ("", "yesterday", "9" * 40):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", other)
        assert re.match(r"Generated \d+ [A-Z][a-z]+ \d{4} by QPS ", origin_line([load(spec)]))


def test_the_revision_is_that_of_the_file_and_of_what_it_reads(spec: Path) -> None:
    module = spec.with_name("part.qps")
    module.write_text("param pace = 2 packet/s\n", "utf-8")
    spec.write_text('use "part.qps" as part\n' + SPEC.replace("1 packet/s", "part.pace"), "utf-8")
    commit = committed(spec)
    assert origin_line([load(spec)]) == f"{DAY}; revision {commit}"
    spec.with_name("other.txt").write_text("something else", "utf-8")
    run_git(spec.parent, "add", ".")
    run_git(spec.parent, "commit", "--quiet", "-m", "another file")
    assert origin_line([load(spec)]) == f"{DAY}; revision {commit}"
    module.write_bytes(b"param pace = 2 packet/s\r\n")  # as git puts it elsewhere
    assert origin_line([load(spec)]) == f"{DAY}; revision {commit}"
    module.write_text("param pace = 3 packet/s\n", "utf-8")
    assert origin_line([load(spec)]) == f"{DAY}; revision {commit}, changed since"
    both = [load(spec), load(module)]
    assert origin_line(both).endswith(
        f"; app.qps: revision {commit}, changed since; part.qps: revision {commit}, changed since"
    )


def test_what_git_does_not_have_has_no_revision(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(spec.parent, "init", "--quiet")  # nothing is committed
    assert origin_line([load(spec)]) == DAY
    spec.with_name("other.txt").write_text("something else", "utf-8")
    run_git(spec.parent, "add", "other.txt")
    run_git(spec.parent, "commit", "--quiet", "-m", "not the spec")
    assert origin_line([load(spec)]) == DAY
    committed(spec)
    assert "revision" in origin_line([load(spec)])

    def missing(*_: object, **__: object) -> None:
        raise QpsError(())

    monkeypatch.setattr(provenance, "top_for", missing)
    assert origin_line([load(spec)]) == DAY


def test_a_repository_runs_nothing(spec: Path) -> None:
    committed(spec)
    result = spec.with_name("ran")
    hook = spec.with_name("hook.sh")
    hook.write_text(f"#!/bin/sh\ntouch {result}\n", "utf-8")
    hook.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "diff.external",
        "filter.own.clean",
        "gpg.program",
        "core.pager",
    ):
        run_git(spec.parent, "config", name, str(hook))
    run_git(spec.parent, "config", "log.showSignature", "true")
    spec.with_name(".gitattributes").write_text("*.qps filter=own\n", "utf-8")
    spec.write_text(SPEC + "\n", "utf-8")
    assert "changed since" in origin_line([load(spec)])
    assert not result.exists()


def test_the_head_of_a_page_states_it(spec: Path) -> None:
    commit = committed(spec)
    page = spec.with_suffix(".html")
    assert main(["report", str(spec), "-q", "--no-advice", "-o", str(page)]) == 0
    assert f'<p class="soft made">{DAY}; revision {commit}</p>' in page.read_text("utf-8")
    again = spec.with_name("again.html")
    assert main(["report", str(spec), "-q", "--no-advice", "-o", str(again)]) == 0
    assert again.read_text("utf-8") == page.read_text("utf-8")
    changed = spec.with_name("changed.html")
    assert main(["diff", str(spec), str(spec), "-q", "-o", str(changed)]) == 0
    assert f'<p class="soft made">{DAY}</p>' in changed.read_text("utf-8")
    assert page_of(load(spec)).provenance == ""  # what is made elsewhere tells nothing of itself
