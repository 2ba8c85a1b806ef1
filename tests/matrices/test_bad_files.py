"""One bad file takes no other away: the others are told, it is named, and the status says so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.nightly import nightly
from helpers.specs import shop
from qps.cli import main
from qps.commands import report
from qps.commands.cache import spec_cache

BAD: dict[str, Callable[[Path], object]] = {
    "a mistake": lambda path: path.write_text("users N in 1..\n"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "a fault of ours": lambda path: path.write_text("# faulty\n" + shop(3)),
}
CLAIM = 'expect it {\n  largest_acceptable >= 1\n  source "x"\n}\n'


def _of(*kinds: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a test on files that are bad in some ways by day, and at night in all."""
    all_kinds = [pytest.param(BAD[k], id=k, marks=[] if k in kinds else [nightly]) for k in BAD]
    return pytest.mark.parametrize("folder", all_kinds, indirect=True)


@pytest.fixture(params=BAD.values(), ids=BAD)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two good specs, and a bad one between them."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.qps", "c.qps"):
        Path(name).write_text(shop(3) + CLAIM)
    request.param(Path("b.qps"))
    real = spec_cache.check_source

    def faulty(source: object, *others: object) -> object:
        if source.text.startswith("# faulty"):  # type: ignore[attr-defined]
            raise RuntimeError("lost")
        return real(source, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(spec_cache, "check_source", faulty)
    return tmp_path


def expected(folder: Path) -> int:
    return 3 if b"faulty" in (folder / "b.qps").read_bytes() else 2


def test_check_reports_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.qps").write_text("users N in 1..\n")
    assert main(["check", "."]) == expected(folder)
    errors = capsys.readouterr().err
    assert "b.qps" in errors
    assert "c.qps" in errors


def test_test_reports_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "a.qps", "b.qps", "c.qps"]) == expected(folder)
    output = capsys.readouterr()
    assert "2 passed, 0 failed" in output.out
    assert output.out.count("largest_acceptable >= 1") == 2
    assert "b.qps" in output.out + output.err


@_of("a fault of ours")
def test_a_report_is_of_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "b.qps", "a.qps", "c.qps", "-o", "x.html"]) == expected(folder)
    assert "b.qps" in capsys.readouterr().err
    page = Path("x.html").read_text()
    assert "a.qps" in page
    assert "c.qps" in page


@_of("a mistake")
def test_a_report_of_a_spec_that_has_no_answer_is_of_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("b.qps").write_text(shop(3))
    real = report.solved_spec

    def faulty(spec: object, *others: object, **more: object) -> object:
        if spec.model.file == "b.qps":  # type: ignore[attr-defined]
            raise ArithmeticError("lost")
        return real(spec, *others, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(report, "solved_spec", faulty)
    assert main(["report", "a.qps", "b.qps", "c.qps", "-o", "x.html"]) == 3
    assert "b.qps: internal error of qps" in capsys.readouterr().err
    assert Path("x.html").is_file()


def test_a_report_of_none_is_none(folder: Path) -> None:
    assert main(["report", "b.qps", "-o", "x.html"]) == expected(folder)
    assert not Path("x.html").exists()


@_of("no text")
def test_a_review_reports_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["init", "-q"], ["add", "a.qps"], ["commit", "-qm", "x"]):
        command = ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words]
        subprocess.run(command, check=True, cwd=folder)
    assert main(["ci", ".", "--base", "HEAD", "--format", "markdown"]) == expected(folder)
    output = capsys.readouterr().out
    assert "b.qps" in output
    assert "c.qps" in output
