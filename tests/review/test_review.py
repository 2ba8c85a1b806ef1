"""What a team does with a change: hooks before the commit, one comment on the pull request."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from processes.repositories import made_once, work_in_a_copy
from qps.cli import main

ROOT = Path(__file__).parents[2]
MODULE = "machine box { cpu 1 core }\nparam each = 1 ms/packet\n"
SPEC = """\
use "parts/hardware.qps" as hw
users N in 1..900
component work { cpu hw.each }
topology { node host = hw.box }
stream flow { traffic N * 10 packet/s; at host { work } }
expect most { largest_acceptable >= 50; source "us" }
"""
MEASURED = """\
users N in 1..9
machine box { cpu 1 core }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { traffic N * 10 packet/s; at host { work } }
observe runs "läufe.csv" { users -> N; busy -> host.cpu.load within 5 %; source "us" }
"""


def git(*arguments: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *own, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(_make, tmp_path_factory)


@pytest.fixture(autouse=True)
def team(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a repository with three specs, a module and a table."""
    work_in_a_copy(made, tmp_path, monkeypatch)


def _make() -> None:
    for name, text in {
        "specs/relay.qps": SPEC,
        "specs/größe.qps": SPEC.replace("10 packet/s", "20 packet/s"),
        "specs/alone.qps": MEASURED.replace(
            'observe runs "läufe.csv"', 'observe r "sub/läufe.csv"'
        ),
        "specs/parts/hardware.qps": MODULE,
        "specs/sub/läufe.csv": "users,busy\n3,0.03\n",
        "other/measured.qps": MEASURED,
        "other/läufe.csv": "users,busy\n3,0.03\n",
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "before")


def hook(name: str) -> list[str]:
    """Return the words that pre-commit calls a hook with, which is called whatever was changed."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (own,) = [one for one in hooks if one["id"] == name]
    assert own["always_run"]
    assert not own["pass_filenames"]
    return str(own["entry"]).split()[1:]


@pytest.mark.parametrize("name", ["qps-check", "qps-test"])
def test_a_commit_of_only_a_module_looks_at_its_readers(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(hook(name)) == 0
    capsys.readouterr()
    Path("specs/parts/hardware.qps").write_text(MODULE.replace("1 ms", "9 ms"))
    status = main(hook(name))
    out, _ = capsys.readouterr()
    if name == "qps-test":
        assert status == 1
        assert "specs/relay.qps:6" in out
        assert "specs/größe.qps:6" in out
        assert "alone" not in out
    else:
        assert status == 0
    Path("specs/parts/hardware.qps").write_text(MODULE.replace("each", "other"))
    assert main(hook(name)) == 2
    assert "specs/relay.qps" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["qps-check", "qps-test"])
def test_a_commit_that_only_deletes_looks_at_the_readers_of_what_is_gone(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    git("rm", "-q", "specs/relay.qps")
    assert main(hook(name)) == 0
    git("commit", "-qm", "a spec that nobody reads is gone")
    git("rm", "-q", "other/läufe.csv")
    assert main(hook(name)) == 2
    assert "other/measured.qps" in capsys.readouterr().err
    git("reset", "-q", "--hard")
    git("rm", "-q", "specs/parts/hardware.qps")
    assert main(hook(name)) == 2
    assert "specs/größe.qps" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["qps-check", "qps-test"])
def test_a_commit_of_only_a_table_looks_at_its_readers(name: str) -> None:
    Path("other/unread.csv").write_text("a\n1\n")
    assert main(hook(name)) == 0
    Path("specs/sub/läufe.csv").write_text("users,busy\n3,0.5\n")
    assert main(hook(name)) == (1 if name == "qps-test" else 0)
    Path("specs/sub/läufe.csv").write_text("users\n3\n")
    assert main(hook(name)) == 2


@pytest.mark.parametrize("command", ["check", "test"])
def test_files_are_taken_for_the_specs_that_read_them(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other/unread.csv").write_text("a\n1\n")
    assert main([command, "--readers", "other/unread.csv"]) == 0
    Path("specs/sub/läufe.csv").write_text("users,busy\n3,0.5\n")
    assert main([command, "--readers", "other/läufe.csv"]) == 0
    capsys.readouterr()
    status = main([command, "--readers", "specs/sub/läufe.csv", "other/unread.csv"])
    out, err = capsys.readouterr()
    assert status == (1 if command == "test" else 0)
    assert "specs/sub/läufe.csv:2" in out if command == "test" else "1 spec checked" in err
    assert main([command, "--readers", "--changed", "."]) == 2


def test_before_the_first_commit_all_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    new.mkdir()
    monkeypatch.chdir(new)
    Path("wrong.qps").write_text("users N in 1..", encoding="utf-8")
    git("init", "-q")
    assert main(["check", "--changed", "."]) == 2
    assert "wrong.qps" in capsys.readouterr().err


def review(capsys: pytest.CaptureFixture[str], *paths: str) -> tuple[int, str]:
    status = main(["review", "-q", "main", *(paths or ("specs",))])
    return status, capsys.readouterr().out


def test_a_changed_module_gives_the_difference_of_the_specs_that_it_moves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("specs/parts/hardware.qps").write_text(MODULE.replace("1 ms", "2 ms"))
    status, out = review(capsys)
    assert status == 1
    assert out.startswith("### ✗ qps test: ")
    result = re.findall(r"^### .*:(\S+) → (\S+)$", out, re.MULTILINE)
    assert result == [
        ("specs/größe.qps", "specs/größe.qps"),
        ("specs/relay.qps", "specs/relay.qps"),
    ]
    moved = out.partition("</details>")[2]
    assert "alone.qps" not in moved
    assert "hardware.qps" not in moved


def test_renamed_specs_are_compared_with_what_they_were(
    capsys: pytest.CaptureFixture[str],
) -> None:
    git("mv", "specs/größe.qps", "specs/maß, klein.qps")
    text = Path("specs/maß, klein.qps").read_text(encoding="utf-8")
    Path("specs/maß, klein.qps").write_text(
        text.replace("20 packet", "21 packet"), encoding="utf-8"
    )
    git("add", ".")
    git("commit", "-qm", "after")
    assert main(["review", "-q", "HEAD~1", "specs"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^### \w+:specs/größe.qps → specs/maß, klein.qps$", out, re.MULTILINE)


def test_a_renamed_module_and_a_new_spec(capsys: pytest.CaptureFixture[str]) -> None:
    git("mv", "specs/parts/hardware.qps", "specs/parts/machines.qps")
    for name in ("relay", "größe"):
        path = Path(f"specs/{name}.qps")
        path.write_text(path.read_text(encoding="utf-8").replace("hardware", "machines"))
    Path("specs/new.qps").write_text(SPEC.replace("hardware", "machines"))
    git("add", ".")
    status, out = review(capsys)
    assert status == 0
    assert "`specs/new.qps` is new." in out
    assert "same result: `specs/größe.qps`, `specs/relay.qps`." in out


def test_what_was_changed_on_the_base_since_is_no_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    git("checkout", "-qb", "work")
    Path("specs/alone.qps").write_text(
        Path("specs/alone.qps").read_text(encoding="utf-8").replace("1 ms", "2 ms")
    )
    git("commit", "-qam", "work")
    git("checkout", "-q", "main")
    Path("specs/parts/hardware.qps").write_text(MODULE.replace("1 ms", "2 ms"))
    git("commit", "-qam", "main goes on")
    git("checkout", "-q", "work")
    status, out = review(capsys)
    assert status == 1
    assert "→ specs/alone.qps" in out
    assert "→ specs/relay.qps" not in out


def test_a_broken_spec_takes_no_other_away(capsys: pytest.CaptureFixture[str]) -> None:
    Path("specs/parts/hardware.qps").write_text(MODULE.replace("1 ms", "0.9 ms"))
    Path("specs/relay.qps").write_text("users N in\n")
    status, out = review(capsys)
    assert status == 2
    assert "specs/relay.qps:1" in out
    assert "`specs/relay.qps` cannot be compared: " in out
    assert "→ specs/größe.qps" in out


MANY = 14


def test_a_comment_fits_and_names_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{'a_long_name_' * 4}{n}" for n in range(30)]
    params = "".join(f"param {name} = 1 us/packet\n" for name in names)
    used = " + ".join(names)
    large = SPEC.replace("cpu hw.each", f"cpu hw.each + ({used})").replace(
        "users", params + "users"
    )
    for n in range(MANY):
        Path(f"specs/many{n}.qps").write_text(large)
    git("add", ".")
    git("commit", "-qm", "many")
    for n in range(MANY):
        Path(f"specs/many{n}.qps").write_text(
            large.replace("users N", f"# {n}\nusers N").replace("1 us", "2 us")
        )
    assert main(["review", "-q", "HEAD", "specs"]) in (0, 1)
    out = capsys.readouterr().out
    assert 40_000 < len(out) <= 65_536
    result = len(re.findall(r"^### .* → specs/many", out, re.MULTILINE))
    assert 0 < result < MANY
    (left,) = re.findall(r"Omitted for length, run `qps diff`: (.*)\.", out)
    more = re.search(r"and (\d+) more", left)
    assert left.count("`specs/many") + (int(more[1]) if more else 0) + result == MANY


def test_wrong_revisions_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "nowhere", "specs"]) == 2
    assert "unknown git revision `nowhere`" in capsys.readouterr().err
    assert main(["test", "--readers", "nowhere.csv"]) == 2
    assert "`nowhere.csv` is not a file" in capsys.readouterr().err
