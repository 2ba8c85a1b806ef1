"""The action: each of its steps as GitHub would run it, with programs that note what is asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from qps.cli import main

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOSTILE = "a b;c\n::error title=x::%0A$(touch hacked).qps"
MARK = "<!-- qps ci: qps -->"

NOTES = """#!{python}
import json, os, sys
with open(os.environ["NOTED"], "a") as noted:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=noted)
body = [word[6:] for word in sys.argv if word.startswith("body=@")]
for file in body:
    sys.stderr.write(open(file, encoding="utf-8").read())
if "--paginate" in sys.argv:
    print(os.environ["FOUND"], end="")
sys.exit(int(os.environ["REFUSES"]) if body or "--paginate" in sys.argv else 0)
"""


class Runner:
    """Runs the steps of the action, one after the other, in a folder."""

    def __init__(self, folder: Path, event: str = "pull_request", **inputs: str) -> None:
        """Take an event, and inputs other than those that stand in the action."""
        self.folder = folder
        given = {name: one["default"] for name, one in ACTION["inputs"].items()} | inputs
        self.context = {
            **{f"inputs.{name}": value for name, value in given.items()},
            "github.event_name": event,
            "github.event.pull_request.number": "12" if event == "pull_request" else "",
            "github.token": "secret",
            "runner.temp": str(folder / "temp"),
            "steps.ci.outcome": "skipped",
        }
        self.retained = folder / "temp" / "qps"
        self.noted = folder / "noted.jsonl"
        self.noted.touch()
        programs = folder / "programs"
        programs.mkdir()
        for name in ("python", "gh", "qps"):
            (programs / name).write_text(NOTES.format(python=sys.executable), encoding="utf-8")
            (programs / name).chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "GITHUB_REPOSITORY": "team/specs",
            "GITHUB_ACTION_PATH": "/actions/qps/v1",
            "RUNNER_TEMP": str(folder / "temp"),
            "NOTED": str(self.noted),
            "FOUND": "",
            "REFUSES": "0",
        }

    def filled(self, text: str) -> str:
        """Put in what stands between `${{` and `}}`."""
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self.context[found[1]], text)

    def is_wanted(self, step: dict[str, Any]) -> bool:
        """Return whether a step runs, by its `if`, in a run that nobody has cancelled."""
        options = step.get("if", "true").removeprefix("${{").removesuffix("}}").strip()
        parts = {"!cancelled()": True, "true": True}
        for part in options.split(" && "):
            name, sign, value = part.partition("==" if "==" in part else "!=")
            is_so = parts.get(part)
            if is_so is None:
                is_so = (self.context[name.strip()] == value.strip().strip("'")) == (sign == "==")
            if not is_so:
                return False
        return True

    def run(self, name: str) -> subprocess.CompletedProcess[str] | None:
        """Run a step, None where it is not wanted."""
        (step,) = [one for one in ACTION["runs"]["steps"] if one.get("name") == name]
        if not self.is_wanted(step):
            return None
        own = {key: self.filled(value) for key, value in step.get("env", {}).items()}
        (self.folder / "temp").mkdir(exist_ok=True)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            env=os.environ | self.environment | own,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
        )
        if "id" in step:
            self.context[f"steps.{step['id']}.outcome"] = (
                "failure" if done.returncode else "success"
            )
        return done

    def queried(self) -> list[list[str]]:
        """Return what programs were called with."""
        return [json.loads(line) for line in self.noted.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("install", "wanted"), [("", "/actions/qps/v1[matrix]"), ("qps; id", "qps; id")]
)
def test_the_version_of_the_action_is_installed_or_what_is_said(
    install: str, wanted: str, tmp_path: Path
) -> None:
    runner = Runner(tmp_path, install=install)
    runner.run("install qps")
    assert runner.queried() == [["python", "-m", "pip", "install", "--quiet", wanted]]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, ["--", "."]),
        ({"paths": "a\n\n--all\n"}, ["--", "a", "--all"]),
        ({"paths": "$(id) `id`\n*", "base": "; id"}, ["--base=; id", "--", "$(id) `id`", "*"]),
        ({"fail-on": "worse"}, ["--fail-on=worse", "--", "."]),
        (
            {"fail-on": "capacity -5 %\n\ncost +$(id) %\n"},
            ["--fail-on=capacity -5 %", "--fail-on=cost +$(id) %", "--", "."],
        ),
    ],
)
def test_inputs_reach_the_command_as_they_are(
    inputs: dict[str, str], words: list[str], tmp_path: Path
) -> None:
    runner = Runner(tmp_path, **inputs)
    done = runner.run("what the change touches")
    assert done is not None
    assert done.returncode == 0, done.stderr
    (options,) = runner.queried()
    assert options[:5] == ["qps", "ci", "-q", "--format", "github"]
    assert options[-len(words) :] == words
    assert runner.retained.is_dir()


def test_the_page_is_made_where_one_is_requested(tmp_path: Path) -> None:
    runner = Runner(tmp_path, page="-x y.qps")
    assert runner.run("the page") is None  # what comes before it has failed
    runner.run("what the change touches")
    assert runner.run("the page") is not None
    page = str(runner.retained / "page.html")
    assert runner.queried()[-1] == ["qps", "report", "-q", "-o", page, "--", "-x y.qps"]


LISTED = ["api", "--paginate", "repos/team/specs/issues/12/comments"]
POSTED = ["POST", "repos/team/specs/issues/12/comments"]
PATCHED = ["PATCH", "repos/team/specs/issues/comments/7"]


@pytest.mark.parametrize(
    ("event", "inputs", "found", "touched", "refuses", "wanted"),
    [
        ("pull_request", {}, "", 2, 0, POSTED),
        ("pull_request", {}, "7\n8\n", 2, 0, PATCHED),
        ("pull_request", {}, "", 0, 0, []),
        ("pull_request", {}, "7", 0, 0, PATCHED),
        ("pull_request", {}, "", None, 0, None),
        ("pull_request", {}, "", 2, 1, []),
        ("pull_request", {"comment": "false"}, "", 2, 0, None),
        ("push", {}, "", 2, 0, None),
    ],
)
def test_one_comment_is_written_and_written_anew(
    event: str,
    inputs: dict[str, str],
    found: str,
    touched: int | None,
    refuses: int,
    wanted: list[str] | None,
    tmp_path: Path,
) -> None:
    runner = Runner(tmp_path, event, **inputs)
    runner.environment |= {"FOUND": found, "REFUSES": str(refuses)}
    runner.retained.mkdir(parents=True)
    if touched is not None:  # else `qps ci` has written nothing: it was called wrongly
        (runner.retained / "comment.md").write_text("### told `x` $(id)\n", encoding="utf-8")
        view = {"schema": "qps/ci/4", "has_news": touched > 0, "specs": 2}
        (runner.retained / "qps.json").write_text(json.dumps(view, indent=2), encoding="utf-8")
    done = runner.run("comment on the pull request")
    options = runner.queried()
    if wanted is None:
        assert options == []
        return
    assert done is not None
    assert done.returncode == 0, done.stderr
    assert options[0][1:4] == LISTED
    assert "env.QPS_MARK" in options[0][-1]
    assert [one[4:6] for one in options[1:]] == ([wanted] if wanted else [])
    if wanted:
        assert done.stderr == f"{MARK}\n### told `x` $(id)\n"
    assert done.stdout.startswith("::warning title=qps::GitHub takes no comment") == bool(refuses)


def test_what_strangers_write_gives_no_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real `qps ci` of a spec that fails, with a name, a text and a claim that would."""
    monkeypatch.chdir(tmp_path)
    text = (
        "users N in 1..9\nmachine box { cpu 1 core }\ncomponent work { cpu 1 ms/packet }\n"
        "topology { node host = box }\nstream flow { traffic 10 packet/s; at host { work } }\n"
        'expect most "x" { host.cpu.load ~ 2 % within 1 %; '
        'source "100 % ::error::of ::warning file=x::it" }\n'
    )
    Path(HOSTILE).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], check=True)
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, "commit", "-qm", "none", "--allow-empty"], check=True)
    capsys.readouterr()
    files = ["--comment", "comment.md", "--sarif", "qps.sarif", "--json", "qps.json"]
    assert main(["ci", "-q", "--format", "github", *files, "--base", "HEAD", "--", "."]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(re.match(r"::error file=a b;c%0A%3A%3Aerror title=x%3A%3A%250A", x) for x in lines)
    assert any("source: 100 %25 ::error::of ::warning file=x::it" in line for line in lines)
    assert '\n  "has_news": true,' in Path("qps.json").read_text(encoding="utf-8")


def test_the_action_and_the_hooks_call_what_there_is() -> None:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("action.yml", HOOKS)]
    called = set(re.findall(r"(?:^|run: |entry: )\s*qps (\w+)", "\n".join(texts), re.MULTILINE))
    assert called == {"ci", "report", "fmt", "check", "test"}
    # What strangers write reaches a shell as variables alone, never as its text.
    runs = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(runs) == 4
    assert not any("${{" in run for run in runs)


HOOKS = ".pre-commit-hooks.yaml"
