"""Networks of textbooks with their published numbers: specs/textbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import spec_figures
from helpers.reports import claims_of
from qps.compiler.pipeline import check_file
from qps.solver.claims.claim_results import ClaimVerdict

FOLDER = Path(__file__).parents[2] / "specs" / "textbook"
SPECS = sorted(FOLDER.glob("*/*.qps"))
LISTED = spec_figures.TEXTBOOK_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_what_was_published_holds_or_says_that_it_is_missed(path: Path) -> None:
    outcome = check_file(path)
    assert outcome.value is not None, outcome.diagnostics
    assert outcome.diagnostics == ()
    results = claims_of(outcome.value)
    assert any(result.is_published for result in results)
    assert [r.name for r in results if r.verdict is ClaimVerdict.FAILS] == []
    assert not any(result.fitted for result in results)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_number_is_cited(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "source model" not in text
    assert text.count("expect ") == text.count("\n  source ")


def test_the_list_states_what_qps_test_reports() -> None:
    named = spec_figures.named(LISTED)
    assert sorted(named) == [f"textbook/{path.parent.name}/{path.stem}" for path in SPECS]
    for spec in named:
        path = spec.removeprefix("textbook/") + ".qps"
        assert f"[{path.rpartition('/')[2]}]({path})" in LISTED
        result = spec_figures.reported(LISTED, spec)
        assert result == {"claims": spec_figures.figures("claims", spec)}, (
            "run `python tests/documents/docs.py`"
        )


def test_the_list_adds_up() -> None:
    assert spec_figures.reported(LISTED, None) == {"all networks": spec_figures.all_networks()}
