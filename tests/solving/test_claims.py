"""What becomes of claims: published or our own, fitted, missed, shown; and the line that counts."""

# ruff: noqa: E501 - tables and specs: one case a line, however long

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from helpers.reports import tested_once as judged_once
from helpers.specs import PRELUDE, checked, lowered
from qps.cli import main
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source, load
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse
from qps.reports.text.claims.claim_summary import summary, tally
from qps.reports.text.claims.verdicts import mark
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict
from qps.solver.claims.claim_runner import ClaimRunner

ROOT = Path(__file__).parents[2]
BASE = (
    PRELUDE
    + """
param pace = 1 packet/s
param chosen = 1 packet/s fitted "to the load of figure 2"
component hard { cpu 20 ms/packet; fitted "to table 3" }
let doubling = 2 * pace
measure half_load = host.cpu.load / 2
func doubled(x) = 2 * x
topology { node host = box; node far = box; node third = box }
stream plain { traffic N * pace; at host { work } }
stream tuned { traffic N * chosen; at far { work } }
stream heavy { traffic N * pace; at third { hard } }
"""
)


def results(text: str) -> tuple[ClaimResult, ...]:
    """Return what becomes of the claims behind the spec above."""
    return Claims(ClaimRunner(model=checked(BASE + text).model)).results()


def parsed(text: str) -> tuple[ast.Declaration, ...]:
    """Return the declarations of a text."""
    syntax = parse(Source("spec.qps", text)).value
    assert syntax is not None
    return syntax.declarations


def only(text: str) -> ClaimResult:
    """Return what becomes of one claim."""
    (result,) = results(text)
    return result


@pytest.mark.parametrize(
    ("claim", "source", "origin"),
    [
        ("host.cpu.load ~ 2 % within 1 % with N = 2", '"table 1"', "published"),
        ("host.cpu.load ~ 2 % within 1 % with N = 2", "model", "model"),
        ("host.cpu.load ~ 2 % within 1 % with N = 2", 'model "by hand"', "model"),
        ("host.cpu.load < 2 * far.cpu.load with N = 2", '"table 1"', "published"),
        ("host.cpu.load ~ 2 % within 1 % with N = 2", 'arithmetic "table 1"', "arithmetic"),
        ("saturation(host) > 99", '"table 1"', "published"),
        ("largest_acceptable >= 9", '"table 1"', "published"),
        ("half_load ~ 1 % within 1 % with N = 2", '"table 1"', "published"),
        ("doubled(3) ~ 6 within 0 %", '"table 1"', "published"),
        ("erlang_b(1, 1) ~ 0.5 within 0 %", '"table 1"', "published"),
        ("(host.cpu.load with N = 1) < 2 %", '"table 1"', "published"),
        # what names numbers alone is arithmetic, whoever printed it
        ("pace ~ 1 packet/s within 0 %", '"table 1"', "arithmetic"),
        ("doubling ~ 2 packet/s within 0 %", '"table 1"', "arithmetic"),
        ("max(pace, doubling) > pace", '"table 1"', "arithmetic"),
        ("2 * 3 ~ 6 within 0 %", '"table 1"', "arithmetic"),
        ("count(host) == 1 with N = 1", '"table 1"', "arithmetic"),
    ],
)
def test_whose_a_claim_is(claim: str, source: str, origin: str) -> None:
    result = only(f"expect e {{ {claim}; source {source} }}")
    assert (result.origin.value, result.verdict) == (origin, ClaimVerdict.HOLDS)
    assert result.is_published == (origin == "published")


def test_a_claim_of_the_model_says_by_what() -> None:
    assert only("expect e { saturation(host) > 9; source model }").source == "this model"
    assert only('expect e { saturation(host) > 9; source model "by hand" }').source == "by hand"


def test_model_is_no_reserved_word() -> None:
    text = (
        'param model = 3\nparam missed = 4\nexpect e { missed ~ model + 1 within 0 %; source "us" }'
    )
    assert only(text).verdict is ClaimVerdict.HOLDS


@pytest.mark.parametrize(
    ("claim", "fitted"),
    [
        ("host.cpu.load ~ 2 % within 1 % with N = 2", None),
        ("far.cpu.load ~ 2 % within 1 % with N = 2", "chosen: to the load of figure 2"),
        ("third.cpu.load ~ 4 % within 1 % with N = 2", "hard.cpu.packet: to table 3"),
        ("host.cpu.load ~ far.cpu.load within 1 % with N = 2", "chosen: to the load of figure 2"),
        ("third.cpu.load > far.cpu.load with N = 2", "hard.cpu.packet: to table 3; chosen: to the load of figure 2"),
        ("saturation(far) > 9", "chosen: to the load of figure 2"),
        ("saturation(host) > 9", None),
        ("(if chosen > 0.3 packet/s then saturation(host) else 1) > 9", "chosen: to the load of figure 2"),
        # a number that the claim sets itself is not the one that was chosen
        ("far.cpu.load ~ 4 % within 1 % with N = 2, chosen = 2 packet/s", None),
    ],
)  # fmt: skip
def test_what_was_chosen_follows_into_the_claims_that_rest_on_it(
    claim: str, fitted: str | None
) -> None:
    result = only(f'expect e {{ {claim}; source "table 1" }}')
    assert result.verdict is ClaimVerdict.HOLDS
    assert result.fitted == fitted
    assert mark(result) == ("pass" if fitted is None else "calibrated")
    assert not result.is_fitted_to_it


def test_what_was_chosen_follows_into_answers_again_and_again() -> None:
    text = (
        "require { far.cpu.load <= 50 % }\n"
        'expect e { largest_acceptable >= 9; largest_acceptable >= 8; source "table 1" }'
    )
    sentence = "chosen: to the load of figure 2; hard.cpu.packet: to table 3"
    assert [sorted((r.fitted or "").split("; ")) for r in results(text)] == [
        sentence.split("; ")
    ] * 2


def test_the_claim_states_its_own_choice_first() -> None:
    result = only(
        'expect e { far.cpu.load < 9 % with N = 1; source "table 1"; fitted "one user of two" }'
    )
    assert result.fitted == "one user of two; chosen: to the load of figure 2"
    assert (result.is_fitted_to_it, mark(result)) == (True, "calibration target")


def test_costs_that_were_fitted_to_a_table_count_as_fitted(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cpu in %,packet/s\n10,100\n20,200\n29.9,300\n")
    file = tmp_path / "relay.qps"
    file.write_text(
        "users N in 1..100\nmachine box { cpu 1 core }\n"
        'component relay { cpu fit "runs.csv" measured on box; source "our runs" }\n'
        "topology { node host = box }\nstream flow { traffic N * 1 packet/s; at host { relay } }\n"
        'expect e { host.cpu.load < 9 % with N = 1; source "a promise" }\n'
    )
    spec = load(file)
    (result,) = Claims(ClaimRunner(model=spec.model)).results()
    assert result.fitted is not None
    assert "to runs.csv" in result.fitted
    assert tally([result]).on_other_fits == 1


KINDS = """\
kinds film { I 1; P 1 }
param size by film { I 2 kB/packet; P 1 kB/packet; fitted "to the rate" }
param slow = { average 3 packet/s; largest 4 packet/s } fitted "to the peak"
stream film_flow { traffic slow, size; at host { work }; over lan; at other { } }
topology { node other = box; link lan = wire between host, other }
"""


def test_parameters_by_kind_and_by_case_can_be_fitted() -> None:
    text = KINDS + 'expect e { lan.load < 90 % with N = 1; source "table 1" }'
    fitted = only(text).fitted
    assert fitted is not None
    assert "to the rate" in fitted
    assert "slow: to the peak" in fitted


def test_what_was_chosen_stands_where_a_source_does() -> None:
    graph = lowered(BASE)
    by_name = {name: one.source for name, one in graph.assumptions.items()}
    assert by_name["chosen"] == "fitted: to the load of figure 2"
    assert by_name["hard.cpu.packet"] == "fitted: to table 3"


def test_a_miss_that_is_known_is_no_failure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "missed.qps"
    file.write_text(
        BASE
        + 'expect e "two per cent" { host.cpu.load ~ 4 % within 5 % with N = 2; source "table 1"; missed "the table counts the idle loop" }\n'
        + 'expect good { host.cpu.load ~ 2 % within 5 % with N = 2; source "table 1" }\n'
    )
    assert main(["test", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[2].split()[:2] == ["MISS", "e"]
    assert "Missed       e: the table counts the idle loop" in out
    assert " ".join(out.split()).endswith("1 passed, 1 known miss (error -50 %), 0 failed")
    main(["test", "--format", "json", str(file)])
    output = json.loads(capsys.readouterr().out)
    assert (output["passed"], output["failed"], output["missed"]) == (1, 0, 1)
    assert output["published"] == {
        "unfitted": 1,
        "fitted": 0,
        "on_other_fits": 0,
        "fitted_to_it": 0,
    }
    assert output["summary"].startswith("1 passed, 1 known miss")
    entry = output["expectations"][0]
    assert (entry["holds"], entry["verdict"]) == (False, "missed")
    assert entry["missed"] == "the table counts the idle loop"
    main(["test", "--format", "junit", str(file)])
    root = ET.fromstring(capsys.readouterr().out)
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")
    (summed,) = root.iter("property")
    assert summed.get("value") == output["summary"]
    main(["test", "--format", "markdown", str(file)])
    out = capsys.readouterr().out
    assert out.startswith(f"### ✓ qps test: {output['summary']}")
    assert "the table counts the idle loop" in out
    main(["test", "--format", "github", str(file)])
    assert "::error" not in capsys.readouterr().out


def test_a_miss_that_holds_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "stale.qps"
    file.write_text(
        BASE
        + 'expect e { host.cpu.load ~ 2 % within 5 % with N = 2; source "table 1"; missed "it was" }\n'
    )
    assert main(["test", "-q", str(file)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("FAIL  e  ")
    assert "passes although it is marked `missed`: remove `missed`" in out
    assert out.splitlines()[-1] == "  0 passed, 1 failed"
    assert main(["test", "--format", "junit", str(file)]) == 1
    failure = next(ET.fromstring(capsys.readouterr().out).iter("failure"))
    assert (failure.get("message") or "").endswith("remove `missed`")
    assert main(["test", "--format", "github", str(file)]) == 1
    assert "remove `missed`" in capsys.readouterr().out
    assert main(["test", "--format", "json", str(file)]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["expectations"]
    assert (entry["holds"], entry["verdict"]) == (True, "stale")


def test_measured_values_can_be_missed(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("users,busy\n2,0.04\n4,0.08\n")
    file = tmp_path / "spec.qps"
    observed = 'observe r "runs.csv" { users -> N; busy -> host.cpu.load within 5 %; source "us"; missed "idle" }\n'
    file.write_text(BASE + observed)
    found = Claims(ClaimRunner(model=load(file).model)).results()
    assert [r.verdict for r in found] == [ClaimVerdict.MISSED] * 2
    assert summary(found) == ("0 passed, 2 known misses (error -50 %), 0 failed")


@pytest.mark.parametrize(
    ("source", "expected", "published"),
    [
        ('source "table 1"', "table 1", True),
        ("source model", "this model", False),
        ('source model "by hand"', "by hand", False),
    ],
)
def test_rows_of_our_own_are_not_published(
    tmp_path: Path, source: str, expected: str, *, published: bool
) -> None:
    (tmp_path / "runs.csv").write_text("users,busy\n2,0.02\n4,0.04\n")
    file = tmp_path / "spec.qps"
    observed = (
        f'observe r "runs.csv" {{ users -> N; busy -> host.cpu.load within 5 %; {source} }}\n'
    )
    file.write_text(BASE + observed)
    found = Claims(ClaimRunner(model=load(file).model)).results()
    assert [(r.source, r.is_published) for r in found] == [(expected, published)] * 2
    counts = tally(found)
    assert (counts.unfitted, counts.own) == ((2, 0) if published else (0, 2))


def test_a_table_has_one_source(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("users,busy\n2,0.02\n")
    file = tmp_path / "spec.qps"
    file.write_text(
        BASE
        + 'observe r "runs.csv" { users -> N; busy -> host.cpu.load; source "us"; source model }\n'
    )
    with pytest.raises(QpsError) as caught:
        load(file)
    assert [d.message for d in caught.value.diagnostics] == ["`source` is specified twice"]


def test_a_column_that_is_put_in_is_arithmetic(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("users,sent,twice sent\n2,1,2\n")
    file = tmp_path / "spec.qps"
    file.write_text(
        BASE
        + 'observe r "runs.csv" { users -> N; sent in packet/s -> pace; "twice sent" in packet/s -> doubling within 1 %; source "us" }\n'
    )
    (result,) = Claims(ClaimRunner(model=load(file).model)).results()
    assert (result.verdict, result.is_published) == (ClaimVerdict.HOLDS, False)


def test_what_is_only_shown_cannot_be_missed(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("users,busy\n2,0.04\n")
    file = tmp_path / "spec.qps"
    file.write_text(
        BASE
        + 'observe r "runs.csv" { users -> N; busy -> host.cpu.load; source "us"; missed "x" }\n'
    )
    with pytest.raises(QpsError) as caught:
        load(file)
    assert [d.message for d in caught.value.diagnostics] == ["`r` has `missed` but no tolerance"]


def test_matrices_can_be_missed() -> None:
    text = "matrix m { pace in [10 packet/s, 20 packet/s] }\n"
    found = results(
        text + 'expect e { no configuration: largest_acceptable > 1; source "x"; missed "all do" }'
    )
    assert [r.verdict for r in found] == [ClaimVerdict.MISSED]
    assert tally(found).missed == 1


def test_every_result_counts_once() -> None:
    found = results(
        'expect a { host.cpu.load < 9 % with N = 1; far.cpu.load < 9 % with N = 1; source "table 1" }\n'
        'expect b { host.cpu.load > 9 % with N = 1; pace < 0.1 packet/s; source "table 1"; missed "no" }\n'
        "expect c { host.cpu.load < 9 % with N = 1; source model }\n"
        'expect d { host.cpu.load > 9 % with N = 1; source "table 1" }\n'
    )
    counts = tally(found)
    assert (counts.unfitted, counts.on_other_fits, counts.own) == (1, 1, 1)
    assert (counts.missed, counts.shown, counts.failed) == (2, 0, 1)
    assert summary(found) == (
        "3 passed (1 published value without calibration, 1 after calibration on other data, "
        "1 other check), "
        "2 known misses, 1 failed"
    )


@pytest.mark.parametrize(
    "path", sorted((ROOT / "specs").rglob("*.qps")), ids=lambda path: path.stem
)
def test_every_claim_of_a_spec_holds_or_says_why_it_is_missed(path: Path) -> None:
    tested = judged_once(path)
    assert tested.wrong == ()
    assert [(one.name, one.predicted) for one in tested.results if one.fails] == []


def test_no_text_of_a_source_stands_for_our_own_reckoning() -> None:
    """What is ours says `source model`: a text behind `source` counts as a document."""
    files = [*(ROOT / "specs").glob("*.qps"), *(ROOT / "stdlib").rglob("*.qps")]
    found = [
        (file.name, item.name.text)
        for file in files
        for item in parsed(file.read_text(encoding="utf-8"))
        if isinstance(item, ast.Expect) and item.source is not None
        if not isinstance(item.source, ast.OwnSource)
        if item.source.value.lower().startswith(("this model", "our ", "computed", "arithmetic"))
    ]
    assert len(files) > 20
    assert found == []


DIVIDED = """
expect plain_load { host.cpu.load < 9 % with N = 1; source "table 1" }
expect on_another_fit { far.cpu.load < 9 % with N = 1; source "table 1" }
expect to_itself { host.cpu.load < 9 % with N = 1; source "table 1"; fitted "one user" }
expect arithmetic_of_a_fit { far.cpu.load < 9 % with N = 1; source arithmetic "table 1" }
expect arithmetic_to_itself { pace == 1 packet/s; source "table 1"; fitted "one packet" }
expect ours { far.cpu.load < 9 % with N = 1; source model; fitted "one user" }
expect off { host.cpu.load > 9 % with N = 1; source arithmetic "table 1"; missed "no" }
expect open_end "loads of figure 3" { source "figure 3"; note "only drawn" }
"""


def test_what_a_claim_rests_on_divides_the_summary() -> None:
    """What was fitted to the very number counts as nothing, arithmetic by itself, ours by itself."""
    assert summary(results(DIVIDED)) == (
        "4 passed (1 published value without calibration, 1 after calibration on other data, "
        "1 arithmetic check, 1 other check), 2 calibration targets (not counted as evidence), "
        "1 known miss, "
        "1 published value without a claim, 0 failed"
    )


def test_what_is_stated_without_a_claim_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "spec.qps"
    file.write_text(BASE + DIVIDED)
    assert main(["test", str(file)]) == 0
    out = capsys.readouterr().out
    assert any(line.split()[:4] == ["-", "open_end", "loads", "of"] for line in out.splitlines())
    assert "No claim     open_end: only drawn" in out
    main(["test", "--format", "json", str(file)])
    output = json.loads(capsys.readouterr().out)
    assert (output["without_a_claim"], output["arithmetic"], output["passed"]) == (1, 1, 6)
    (entry,) = (one for one in output["expectations"] if one["name"] == "open_end")
    assert (entry["verdict"], entry["holds"]) == ("without a claim", None)
    main(["test", "--format", "junit", str(file)])
    assert "without a claim: loads of figure 3" in capsys.readouterr().out
    assert main(["report", str(file), "-o", str(tmp_path / "page.html")]) == 0
    assert "only drawn" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    "block", ['{ source "figure 3" }', "{ }", '{ source model; note "why" }', '{ note "why" }']
)
def test_a_block_without_a_claim_has_a_document_and_a_reason(block: str) -> None:
    outcome = check_source(Source("spec.qps", BASE + f"expect e {block}\n"))
    assert outcome.value is None
    assert [d.message for d in outcome.diagnostics if d.is_error] == ["`e` has no claim"]


def test_verdicts_of_claims_are_counted_by_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Also what was measured counts in the folder of its spec, not in that of its table."""
    (tmp_path / "one" / "data").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "data" / "runs.csv").write_text("users,busy\n2,0.02\n")
    observed = (
        'observe r "data/runs.csv" { users -> N; busy -> host.cpu.load within 5 %; source "us" }\n'
    )
    claim = 'expect good { host.cpu.load ~ 2 % within 5 % with N = 2; source "table 1" }\n'
    (tmp_path / "one" / "spec.qps").write_text(BASE + claim + observed)
    (tmp_path / "two" / "spec.qps").write_text(BASE + claim)
    assert main(["test", "-q", str(tmp_path)]) == 0
    assert capsys.readouterr().out.replace("\n    ", " ").splitlines() == [
        f"  {(tmp_path / 'one').as_posix()}: 2 passed, 0 failed",
        f"  {(tmp_path / 'two').as_posix()}: 1 passed, 0 failed",
        "  0 of 3 claims failed",
    ]


def test_costs_fitted_to_the_same_table_are_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cpu in %,packet/s\n10,100\n20,200\n29.9,300\n")
    (tmp_path / "more.csv").write_text("cpu in %,packet/s\n10,100\n20,200\n30,300\n")
    (tmp_path / "relay.qps").write_text(
        "users N in 1..100\nmachine box { cpu 1 core }\n"
        'component relay { cpu fit "runs.csv" measured on box; source "our runs" }\n'
        "topology { node host = box }\nstream flow { traffic N * 1 packet/s; at host { relay } }\n"
        + "".join(
            f'observe {name} "{name}.csv" {{ "packet/s" -> N; "cpu in %" in % -> host.cpu.load within 5 %; source "us" }}\n'
            for name in ("runs", "more")
        )
    )
    spec = load(tmp_path / "relay.qps")
    found = Claims(ClaimRunner(model=spec.model)).results()
    assert {(r.name.partition("[")[0], r.is_fitted_to_it) for r in found} == {
        ("runs", True),
        ("more", False),
    }


def test_the_page_states_what_is_missed(tmp_path: Path) -> None:
    file = tmp_path / "spec.qps"
    file.write_text(
        BASE
        + 'expect e { host.cpu.load ~ 4 % within 5 % with N = 2; source "table 1"; missed "the <idle> loop" }\n'
    )
    assert main(["report", str(file), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "Missed: the &lt;idle&gt; loop" in page
    assert ">missed</span>" in page


def test_a_fitted_cost_times_a_parameter_counts_as_fitted() -> None:
    """It is no number of its own: to multiply it hid that it was chosen."""
    text = """
users N in 1..1000
param k = 2
machine server { cpu 4 core }
component work { cpu 1 ms/request * k; fitted "to hit it" }
topology { node web = server }
stream replies in all { traffic N * 1 request/s, 1 kB/request; at web { work } }
expect e { web.cpu.load ~ 50 % within 1 % with N = 1000; source "a paper" }
"""
    (result,) = Claims(ClaimRunner(model=checked(text).model)).results()
    assert result.fitted == "k: to hit it"
