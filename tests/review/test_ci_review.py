"""What a team reads of `qps ci`: the overview, thresholds, what is accepted, JUnit, uncertainty."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.reports.text.layout.table import escaped_html
from qps.reviewing.thresholds import threshold

SPEC = """\
users N in 1..9000
machine server {{ cpu 2 core; price {price} $/hour }}
component answer {{ cpu {work} ms/request }}
topology {{ node web = server * {count} }}
stream pages in all {{ traffic N * 1 request/s; at web {{ answer }} }}
expect promise {{ largest_acceptable >= {claimed}; source "contract" }}
"""
UNCERTAIN = """\
users N in 1..9000
machine server {{ cpu 2 core }}
component answer {{ cpu {work} ms/request +- {spread} % }}
topology {{ node web = server }}
stream pages {{ traffic N * 1 request/s; at web {{ answer }} }}
expect promise {{ largest_acceptable >= 900; source "contract" }}
"""


OLD = """\
users calls in 1..700
machine bridge { cpu 8 core }
component mix { cpu 16 ms/packet }
topology { node hub = bridge }
stream voice { traffic calls * 1 packet/s; at hub { mix } }
"""


def spec(work: float = 2, count: int = 1, price: float = 1, claimed: int = 1) -> str:
    """Return a spec that supports `2000 * count / work` users."""
    return SPEC.format(work=f"{work:g}", count=count, price=f"{price:g}", claimed=claimed)


def git(*arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], check=True, capture_output=True)


Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return what writes specs and commits them where that is asked for."""
    folder = tmp_path / "plan"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI", "PRE_COMMIT_"))]:
        monkeypatch.delenv(name)
    git("init", "-q", "-b", "main")

    def write(*, commit: bool = False, **texts: str) -> None:
        for name, text in texts.items():
            Path(f"{name}.qps").write_text(text, encoding="utf-8")
        assert main(["fmt", "-q", "."]) == 0
        if commit:
            git("add", "-A")
            git("commit", "-qm", "some")

    return write


def ci(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["ci", "-q", "--base", "HEAD", *words])
    return status, capsys.readouterr().out


def test_thirty_specs_are_seen_at_once_the_worst_first(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"service_{number:02}" for number in range(30)]
    write(commit=True, hardware="machine other { cpu 1 core }\n", **dict.fromkeys(names, spec()))
    work = {"service_03": 4.0, "service_07": 2.5, "service_11": 1.6}
    texts = {name: spec(work.get(name, 2.001), count=1) for name in names}
    texts["service_20"] = spec(work=2, count=1, claimed=2000)
    texts["hardware"] = "machine other { cpu 2 core }\n"
    write(**texts)
    status, out = ci(capsys, "--format", "markdown")
    first, _, rest = out.partition("<details>")
    overview = first.partition("**What")[0]
    assert status == 1
    assert len(overview.encode()) <= 3_000
    rows = [line for line in overview.splitlines() if line.startswith("| service")]
    assert len(rows) == 30
    assert rows[0] == ("| service\\_20.qps | 1,000 | 0 | web CPU | ❌ 0 of 1 pass |")
    assert rows[1].startswith("| service\\_03.qps | 1,000 → 500 | -500, -50 % | web CPU |")
    assert rows[2].startswith("| service\\_07.qps | 1,000 → 800 | -200, -20 % |")
    assert rows[-1].startswith("| service\\_11.qps | 1,000 → 1,250 | +250, +25 % |")
    assert "plan: 30 of 30 specs changed, compared with " in overview
    assert rest.count("<summary>service") == 30 - 1 + 1
    some = [f"{name}.qps" for name in names if name in work or name >= "service_18"][:6]
    _, text = ci(capsys, *some)
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  service")]
    assert listed[:3] == ["service_20.qps", "service_03.qps", "service_07.qps"]


def test_new_specs_are_there_with_their_answers_and_those_gone_with_theirs(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, old=OLD, module="machine m { cpu 1 core }\n")
    Path("old.qps").unlink()
    Path("module.qps").unlink()
    write(fresh=spec(1.25, claimed=1000), other="machine m { cpu 1 core }\n", wrong=spec(2))
    Path("wrong.qps").write_text("users N in 1..2\n")
    _, out = ci(capsys, "--format", "markdown")
    assert "| fresh.qps | 1,600 | new | web CPU | ✅ 1 of 1 pass |" in out
    assert "| old.qps | 500 → – | removed | – | – |" in out
    assert "| wrong.qps | – | new | – | – |" in out
    assert "module.qps |" not in out
    assert "plan: 2 of 2 specs changed, 1 removed, compared with " in out
    view = json.loads(ci(capsys, "--format", "json")[1])
    by_file = {one["file"]: one for one in view["changes"]}
    assert by_file["old.qps"]["before"]["capacity"] == 500
    assert by_file["fresh.qps"]["after"]["capacity"] == 1600
    assert by_file["other.qps"]["state"] == "module"


@pytest.mark.parametrize(
    ("old", "new", "words", "status"),
    [
        (spec(2), spec(2.5), [], 0),
        (spec(2), spec(2.5), ["worse"], 1),
        (spec(2), spec(1.9), ["worse"], 0),
        (spec(2), spec(2.5), ["capacity -20 %"], 1),
        (spec(2), spec(2.5), ["capacity -20.1 %"], 0),
        (spec(2), spec(2.5), ["capacity -200"], 1),
        (spec(2), spec(2.5), ["capacity-201"], 0),
        (spec(2), spec(2.5), ["capacity -50 %", "capacity -200"], 1),
        (spec(2), spec(1.9), ["capacity -1"], 0),
        (spec(2), spec(2, price=1.1), ["cost +10 %"], 1),
        (spec(2), spec(2, price=1.1), ["cost +11%"], 0),
        (spec(2), spec(2, price=0.9), ["cost +1 %"], 0),
        (spec(2), spec(1, count=2), ["cost +100 %", "capacity -1 %"], 1),
        (spec(2), spec(2) + "param unused = 1\n", [], 0),
        (spec(2), spec(2) + "param unused = 1\n", ["warnings"], 1),
        (spec(2), spec(2.1), ["warnings"], 0),
    ],
)
def test_thresholds(
    old: str,
    new: str,
    words: list[str],
    status: int,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(commit=True, web=old)
    write(web=new)
    found, out = ci(capsys, *(f"--fail-on={word}" for word in words))
    assert found == status, out
    assert ("FAIL qps" in out) == (bool(status) and words != ["warnings"])


@pytest.mark.parametrize(
    "text",
    ["", "capacity", "capacity 5", "capacity +5 %", "cost -5 %", "cost +5", "capacity -0 %",
     "capacity -101 %", "capacity -5 %%", "latency +5 %", "capacity -1e3", "better",
     "capacity -5 % x", "capacity -" + "9" * 30],
)  # fmt: skip
def test_what_is_no_threshold_is_refused_with_what_may_be_written(text: str) -> None:
    with pytest.raises(QpsError) as raised:
        threshold(text)
    (diagnostic,) = raised.value.diagnostics
    assert any("`capacity -5 %`" in hint for hint in diagnostic.hints)


def test_a_wrong_threshold_ends_before_anything_is_read(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, web=spec())
    assert main(["ci", "--fail-on", "capacity +5 %"]) == 2
    output = capsys.readouterr()
    assert (output.out, "capacity -5 %" in output.err) == ("", True)


ACCEPTED = """
[[accept]]
file = "web.qps"
capacity = {floor}
reason = "the new database is ordered"
until = {until}
"""


@pytest.mark.parametrize(
    ("floor", "until", "status"),
    [
        (800, "2999-12-31", 0),
        (801, "2999-12-31", 1),
        (500, "2999-12-31", 0),
        (800, "2001-01-01", 1),
    ],
)
def test_a_decrease_is_accepted_for_a_time_and_down_to_a_number(
    floor: int, until: str, status: int, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("qps.toml").write_text(ACCEPTED.format(floor=floor, until=until))
    write(commit=True, web=spec(2))
    write(web=spec(2.5))
    files = [f"--{kind}={kind}.out" for kind in ("comment", "sarif", "junit", "json")]
    found, out = ci(capsys, "--fail-on", "capacity -5 %", *files)
    assert found == status, out
    reason = f"accepted until {until} (qps.toml:2): the new database is ordered"
    assert (reason in out.replace("\n  ", " ")) == (floor <= 800)
    (run,) = json.loads(Path("sarif.out").read_text())["runs"]
    (result,) = [r for r in run["results"] if r["ruleId"] == "capacity-decrease"]
    assert [s["justification"] for s in result["suppressions"]] == [] if status else [reason]
    suites = ET.fromstring(Path("junit.out").read_text())
    (case,) = [case for case in suites.iter("testcase") if case.get("name") == "capacity"]
    assert (case.find("failure") is not None, case.find("skipped") is not None) == (
        bool(status),
        not status,
    )
    row = f"| web.qps | 1,000 → 800 | {'❌ ' if status else ''}-200, -20 %"
    assert row + (" |" if status else ", accepted |") in Path("comment.out").read_text("utf-8")
    findings = json.loads(Path("json.out").read_text())["findings"]
    accepted = [one["accepted"] for one in findings if one["code"] == "capacity-decrease"]
    assert accepted == [None if status else reason]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("capacity = -1", "`capacity` must be a whole number of users"),
        ("capacity = 2.5", "`capacity` must be a whole number of users"),
        ("capacity = true", "`capacity` must be a whole number of users"),
        ('capacity = 5\nclaim = "promise"', "a capacity or a claim, not both"),
        ("", "`claim` is missing"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(
    entry: str, said: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, web=spec(2))
    Path("qps.toml").write_text(
        f'[[accept]]\nfile = "web.qps"\n{entry}\nreason = "x"\nuntil = 2999-01-01\n'
    )
    assert main(["ci", "-q", "--base", "HEAD"]) == 2
    assert said in capsys.readouterr().err


def test_junit_has_a_case_for_each_claim_capacity_and_error(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, web=spec(2), api=spec(2))
    write(web=spec(2.5, claimed=900), api=spec(1.9))
    with Path("api.qps").open("a") as file:
        file.write("\n\n\n")
    status, _ = ci(capsys, "--fail-on=worse", "--junit=junit.xml")
    suites = ET.fromstring(Path("junit.xml").read_text())
    cases = {
        (case.get("classname"), case.get("name")): [child.tag for child in case]
        for case in suites.iter("testcase")
    }
    assert status == 1
    assert cases == {
        ("web.qps", "promise"): ["failure"],
        ("api.qps", "promise"): [],
        ("web.qps", "capacity"): ["failure"],
        ("api.qps", "capacity"): [],
        ("api.qps", "layout"): ["failure"],
    }
    assert (suites.get("tests"), suites.get("failures")) == ("5", "3")


def test_an_interval_that_sank_below_a_claim_is_reported_though_the_best_estimate_passes(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, web=UNCERTAIN.format(work=2, spread=2))
    write(web=UNCERTAIN.format(work=2.05, spread=20))
    status, out = ci(capsys)
    assert status == 0
    out = out.replace("\n  ", " ")
    assert "warning[claim-uncertain] web.qps:6: 90 % interval of the capacity is now 8" in out
    assert "below the 900 that `promise` requires; the nominal capacity of 975 passes" in out
    assert "uncertain" in out.partition("In parentheses: 90 % interval of capacity.")[0]
    view = json.loads(ci(capsys, "--format", "json")[1])
    assert view["changes"][0]["uncertain"] == ["promise"]
    assert ci(capsys, "--fail-on", "warnings")[0] == 1


def test_a_change_that_exceeds_the_uncertainty_is_reported_without_a_doubt(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(commit=True, web=UNCERTAIN.format(work=1, spread=2))
    write(web=UNCERTAIN.format(work=1.5, spread=2))
    status, out = ci(capsys)
    assert status == 0
    assert ("within uncertainty" in out, "exceeds the uncertainty" in out) == (False, True)
    assert "claim-uncertain" not in out


def test_the_default_branch_is_judged_as_a_request_is(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = tmp_path / "passed.txt"
    words = ["ci", "-q", f"--passed={record}", "--fail-on=worse"]
    write(commit=True, web=spec(2, claimed=500))
    assert main(words) == 0
    write(commit=True, web=spec(2.5, claimed=400))  # slower, and claims less
    capsys.readouterr()
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "error[claim-loosened] web.qps" in out
    assert "error[capacity-decrease] web.qps" in out
    write(commit=True, other=spec(2))
    assert main(words) == 1  # the next push does not turn it green
    assert "the last commit of main that passed\n" in capsys.readouterr().out
    assert len(record.read_text().splitlines()) == 1
    Path("qps.toml").write_text(
        "".join(
            f'[[accept]]\nfile = "web.qps"\n{entry}\nreason = "agreed"\nuntil = 2999-01-01\n'
            for entry in ('rule = "claim-loosened"', "capacity = 800")
        )
    )
    write(commit=True)
    assert main(words) == 0
    assert len(record.read_text().splitlines()) == 2


def test_what_strangers_call_things_is_text_in_markdown_and_its_html(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a|b `c` <img src=x> @all #1 </summary>"
    write(commit=True, web=spec(2), **{name.replace("/", "∕"): spec(2)})
    write(**{name.replace("/", "∕"): spec(4)})
    _, out = ci(capsys, "--format", "markdown")
    assert "<img" not in out
    assert "@all" not in out
    assert " #1" not in out
    assert escaped_html("`<a> & @b\n|") == "&#96;&lt;a&gt; &amp; @\u200bb &#124;"


def test_many_specs_are_counted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {f"s{number}": spec(2) for number in range(52)}
    write(commit=True, **texts)
    write(**{name: spec(2.5 if name == "s51" else 2) + "# new\n" for name in texts})
    _, out = ci(capsys, "--format", "markdown")
    rows = [line for line in out.splitlines() if line.startswith("| s")]
    assert rows[0].startswith("| s51.qps | 1,000 → 800 |")
    assert len(rows) == 50
    assert "plan: 52 of 52 specs changed, compared with " in out
    assert (
        "plan: 52 of 52 specs checked, compared with "
        in ci(capsys, "--all", "--format", "markdown")[1]
    )
    assert "2 more specs, 2 of them without a change in capacity." in out
