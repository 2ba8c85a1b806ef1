"""The rules of a review: what a change makes weaker is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.compiler.pipeline import Spec, check_file
from qps.reviewing.rules.spec_rules import spec_weakenings
from review.review_cases import CASES, NOTHING, SPEC

RUNS = "users,busy\n100,2\n500,10\n1000,20\n"

ROOT = Path(__file__).parents[2]


def spec_of(folder: Path, text: str, runs: str = RUNS) -> Spec:
    folder.mkdir()
    (folder / "site.qps").write_text(text, encoding="utf-8")
    (folder / "runs.csv").write_text(runs, encoding="utf-8")
    checked = check_file(folder / "site.qps")
    assert checked.value is not None, [one.message for one in checked.diagnostics]
    return checked.value


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    return spec_of(tmp_path_factory.mktemp("specs") / "old", SPEC)


@pytest.mark.parametrize("case", CASES)
def test_what_became_weaker_is_found_and_nothing_else(case: str, old: Spec, tmp_path: Path) -> None:
    before, after, rules = CASES[case]
    assert before in SPEC
    new = spec_of(tmp_path / "new", SPEC.replace(before, after))
    found = [one.rule for one in spec_weakenings(old, new)]
    assert found == rules


@pytest.mark.parametrize(
    ("modes", "rules"),
    [
        ("mode calm { }", NOTHING),
        ("mode busy { pages.latency <= 50 ms }\nmode calm { work = 2 ms/request }", NOTHING),
        ("mode calm { pages.latency <= 1 s }", ["requirement-loosened"]),
        ("mode calm { work = 2 ms/request }", ["requirement-loosened"] * 3),
    ],
)
def test_first_modes_ask_for_what_was_required_without_any(
    modes: str, rules: list[str], tmp_path: Path
) -> None:
    lines = [line for line in SPEC.splitlines() if not line.startswith("mode ")]
    old = spec_of(tmp_path / "old", "\n".join(lines))
    new = spec_of(tmp_path / "new", "\n".join([*lines, modes]))
    assert [one.rule for one in spec_weakenings(old, new)] == rules


def test_new_numbers_with_new_sources_are_no_weakening(tmp_path: Path) -> None:
    """A parameter is measured again: what rests on it cites the new measurement, too, or not."""
    old = spec_of(tmp_path / "old", SPEC)
    again = SPEC.replace("= 8 ms/request", "= 7 ms/request")
    for number, text in enumerate(
        (
            again.replace('"profile"', '"May"'),
            again.replace('request source "profile"', 'request source "May"'),
        )
    ):
        new = spec_of(tmp_path / str(number), text)
        assert list(spec_weakenings(old, new)) == []


@pytest.mark.parametrize(
    ("runs", "rules"),
    [
        ("users,busy\n1000,20\n500,10\n100,2\n", NOTHING),
        (RUNS + "50,1\n", NOTHING),
        ("users,busy\n100,2\n500,10\n", ["claim-loosened"]),
        (RUNS.replace(",10", ",9.8"), ["source-changed"]),
    ],
)
def test_a_table_of_measurements_is_compared_row_by_row(
    runs: str, rules: list[str], tmp_path: Path
) -> None:
    old, new = (spec_of(tmp_path / name, SPEC, text) for name, text in (("a", RUNS), ("b", runs)))
    assert [one.rule for one in spec_weakenings(old, new)] == rules


@pytest.mark.parametrize("path", sorted(ROOT.glob("specs/*.qps")), ids=lambda path: path.name)
def test_a_spec_is_not_weaker_than_itself(path: Path) -> None:
    spec = check_file(path).value
    assert spec is not None
    assert list(spec_weakenings(spec, spec)) == []
