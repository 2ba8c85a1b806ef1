"""Public questions about one request, answered as a separate simulation does: specs/questions."""

from __future__ import annotations

import pytest

from documents import spec_figures

FOLDER = spec_figures.QUESTIONS_PAGE.parent
LISTED = spec_figures.QUESTIONS_PAGE.read_text(encoding="utf-8")
SPECS = sorted(path.stem for path in FOLDER.glob("*.qps"))


def test_every_spec_is_listed() -> None:
    assert sorted(spec_figures.named(LISTED)) == [f"questions/{spec}" for spec in SPECS]


@pytest.mark.parametrize("spec", SPECS)
def test_claims_are_those_of_the_page(spec: str) -> None:
    name = f"questions/{spec}"
    found = spec_figures.figures("claims", name)
    assert "failed" not in found
    assert spec_figures.reported(LISTED, name) == {"claims": found}
