"""The figures of specs/README.md and of the pages of its folders, as `qps test` tells them.

Between `<!-- claims of NAME -->` and `<!-- end -->` stands what became of the claims of a spec;
between `<!-- predictions of NAME -->` and `<!-- end -->` how far its predictions are off, block by
block; between `<!-- all predictions -->` and `<!-- end -->` how far all of these are; between
`<!-- all documents -->` and `<!-- end -->` what became of the claims of Claypool's thesis and of
the four papers beside it; between
`<!-- all networks -->` and `<!-- end -->` what became of the claims of all networks of textbooks;
between `<!-- all fits -->` and `<!-- end -->` how many published runs fits to other runs hold.

A prediction is a published number that the model gives another value for: a row of an observation,
a claim `~`, or a claim `==`. Blocks called `calibration` hold what costs come from, and do not
count; nor does what is arithmetic, which is the model's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import median

from documents.fit_coverage import held_of
from helpers.reports import claims_in
from qps.reports.text.claims.claim_summary import summary
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict

SPECS = Path(__file__).resolve().parents[2] / "specs"
PAGE = SPECS / "README.md"
README = SPECS.parent / "README.md"
VALIDATION = SPECS.parent / "docs" / "validation.md"
TEXTBOOK_PAGE = SPECS / "textbook" / "README.md"
QUESTIONS_PAGE = SPECS / "questions" / "README.md"
PAGES = (README, VALIDATION, PAGE, TEXTBOOK_PAGE, QUESTIONS_PAGE)

DOCUMENTS = (
    *("audioconference", "flying", "virtual_cockpit", "jitter", "capacity"),
    *("iri", "mtp", "data_path", "atm_video"),
)
"""The specs of Claypool's thesis and of the four papers beside it."""

_MARKED = re.compile(
    r"<!-- (?:(?P<kind>claims|predictions) of (?P<spec>[\w/]+)"
    r"|all (?P<all>predictions|networks|documents|fits)) -->"
    r"(?P<told>.*?)<!-- end -->"
)


def named(text: str) -> tuple[str, ...]:
    """Return the specs whose figures a page tells."""
    return tuple(dict.fromkeys(m["spec"] for m in _MARKED.finditer(text) if m["spec"]))


def reported(text: str, spec: str | None) -> dict[str, str]:
    """Return what a page tells of a spec, or of all predictions, by the kind of figure."""
    found = _MARKED.finditer(text)
    return {m["kind"] or f"all {m['all']}": m["told"] for m in found if m["spec"] == spec}


def figures(kind: str, spec: str) -> str:
    """Return what `qps test` tells of a spec."""
    if kind == "claims":
        return summary(_results(spec)).removesuffix(", 0 failed")
    return "; ".join(_block(name, found) for name, found in _blocks(spec).items())


def all_predictions(specs: Sequence[str]) -> str:
    """Return how far the predictions of several specs are off."""
    off = [abs(share) for spec in specs for _, share in _predictions(spec)]
    far = sum(share > 0.3 for share in off)
    return (
        f"Of {len(off)} predictions half are off by less than {100 * median(off):.1f} %, "
        f"and {far} by more than 30 %, at most {100 * max(off):.0f} %."
    )


def all_networks() -> str:
    """Return what became of the claims of all networks of textbooks."""
    networks = sorted(TEXTBOOK_PAGE.parent.glob("*/*.qps"))
    names = (path.relative_to(SPECS).with_suffix("").as_posix() for path in networks)
    results = [result for name in names for result in _results(name)]
    held = sum(result.verdict is ClaimVerdict.HOLDS for result in results)
    missed = sum(result.verdict is ClaimVerdict.MISSED for result in results)
    return f"{len(networks)} networks, {held} published numbers met, {missed} missed"


def all_documents() -> str:
    """Return what became of the claims of the thesis and of the four papers."""
    results = [result for spec in DOCUMENTS for result in _results(spec)]
    return summary(results).removesuffix(", 0 failed")


def all_fits() -> str:
    """Return how many published runs lie within the intervals of fits to other runs."""
    return (
        f"Each of {sum(of for _, of in held_of())} published runs was predicted from a fit to the "
        f"other runs in its table: {sum(held for held, _ in held_of())} fell within the 90 % "
        "prediction interval."
    )


def met_exactly(spec: str) -> set[str]:
    """Return the blocks of published claims that hold to the last digit with nothing fitted."""
    return {
        _block_of(result)
        for result, share in _predictions(spec)
        if result.verdict is ClaimVerdict.HOLDS and not result.fitted and abs(share) < 1e-9
    }


def predicting(text: str) -> tuple[str, ...]:
    """Return the specs whose predictions a page tells."""
    found = (m["spec"] for m in _MARKED.finditer(text) if m["kind"] == "predictions")
    return tuple(dict.fromkeys(found))


def written(text: str) -> str:
    """Return a page with the figures of today."""

    def replaced(mark: re.Match[str]) -> str:
        begin = mark[0][: mark[0].index("-->") + 3]
        spec = mark["spec"]
        if spec:
            return f"{begin}{figures(mark['kind'], spec)}<!-- end -->"
        if mark["all"] == "networks":
            return f"{begin}{all_networks()}<!-- end -->"
        if mark["all"] == "documents":
            return f"{begin}{all_documents()}<!-- end -->"
        if mark["all"] == "fits":
            return f"{begin}{all_fits()}<!-- end -->"
        return f"{begin}{all_predictions(predicting(text))}<!-- end -->"

    return _MARKED.sub(replaced, text)


@cache
def _results(spec: str) -> tuple[ClaimResult, ...]:
    return claims_in(SPECS / f"{spec}.qps")


@cache
def _predictions(spec: str) -> tuple[tuple[ClaimResult, float], ...]:
    """Return the predictions of a spec, each with the share that it is off by."""
    published = [result for result in _results(spec) if result.is_published]
    found = [(result, _off(result)) for result in published if _block_of(result) != "calibration"]
    return tuple((result, share) for result, share in found if share is not None)


def _off(result: ClaimResult) -> float | None:
    if result.condition is None:
        return result.relative_difference
    if " == " not in result.condition or len(result.compared) != 2:
        return None
    predicted, claimed = (side.value for side in result.compared)
    return predicted / claimed - 1 if claimed else None


def _blocks(spec: str) -> dict[str, list[tuple[ClaimResult, float]]]:
    blocks: dict[str, list[tuple[ClaimResult, float]]] = {}
    for result, share in _predictions(spec):
        blocks.setdefault(_block_of(result), []).append((result, share))
    return blocks


def _block_of(result: ClaimResult) -> str:
    return result.name.partition("[")[0]


def _block(name: str, found: Sequence[tuple[ClaimResult, float]]) -> str:
    """Return how far a block is off, how many rows it has, and whether it is missed."""
    shares = [share for _, share in found]
    several = f" ({len(shares)})" if len(shares) > 1 else ""
    missed = ", missed" if any(r.verdict is ClaimVerdict.MISSED for r, _ in found) else ""
    return f"{name.replace('_', ' ')}{several} {_range(min(shares), max(shares))}{missed}"


def _range(least: float, most: float) -> str:
    """Return two shares in per cent, as one where they are told alike."""
    if max(-least, most) < 1e-9:
        return "exact"
    ends = dict.fromkeys(f"{100 * end:+.1f}".replace("-0.0", "+0.0") for end in (least, most))
    return f"{' to '.join(ends)} %".replace("+0.0 to", "0 to").replace("to +0.0", "to 0")
