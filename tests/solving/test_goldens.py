"""What `solve` answers about all worked specs, and about generated ones of every kind, stays.

`pytest tests/solving/test_goldens.py --snapshot-update` keeps what is answered now:
look at what git says of it. `tests/helpers/goldens.py` does the same of far more, for a change that
must change nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.golden_answers import Json, answered
from helpers.golden_differences import Comparison, group_text
from helpers.golden_formulas import same_formula, values_of

ROOT = Path(__file__).parents[2]
GOLDENS = Path(__file__).parents[1] / "goldens"
WORKED = sorted((ROOT / "specs").glob("*.qps"))
GENERATED = sorted((GOLDENS / "generated").glob("*.qps"))
_LONG = 300  # letters of a formula, of which only values are kept
_EXAMPLES = 5


def _golden(spec: Path) -> Path:
    return GOLDENS / spec.parent.name / f"{spec.stem}.json"


def _compact(value: Json) -> Json:
    """Return a value with the values of long formulas in place of them: few read these."""
    if isinstance(value, dict):
        return {key: _compact(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_compact(each) for each in value]
    if isinstance(value, str) and len(value) > _LONG and (values := values_of(value)):
        return " ".join(values)
    return value


def _text(answer: dict[str, Json]) -> str:
    """Return JSON that git compares well: a line for each member, and for each element of one."""
    members = []
    for key, value in answer.items():
        is_long = isinstance(value, list) and value
        parts = [json.dumps(each, ensure_ascii=False) for each in (value if is_long else [value])]
        text = "[\n  " + ",\n  ".join(parts) + "\n ]" if is_long else parts[0]
        members.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


@pytest.mark.parametrize("spec", [*WORKED, *GENERATED], ids=lambda spec: spec.stem)
def test_what_solve_answers_stays(
    spec: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spec.parent)
    found = answered(f"solve {spec.name} --format json")
    now = _compact({"status": found.status, "told": found.reported, **_members(found.answer)})
    if request.config.getoption("--snapshot-update"):
        _golden(spec).write_text(_text(now), encoding="utf-8")
    stored = json.loads(_golden(spec).read_text(encoding="utf-8"))
    comparison = Comparison()
    comparison.compare(stored, now)
    differences = [(found.command, one) for one in comparison.found]
    assert not differences, group_text("differs", differences, _EXAMPLES)


def _members(answer: Json) -> dict[str, Json]:
    return answer if isinstance(answer, dict) else {"answer": answer}


def test_each_spec_has_its_golden_file_and_no_other_does() -> None:
    stored = set(GOLDENS.glob("*/*.json"))
    assert stored == {_golden(spec) for spec in [*WORKED, *GENERATED]}


# -- the comparison itself ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.b*(c + 1)/d", "a.b/d + c*a.b/d"),
        ("max(min(a, b), erlang_c(N, x/2))", "max(erlang_c(N, 0.5*x), min(b, a))"),
        ("N*((0.5 us/kB)*(0.1 request/s))/(2*(4 core))", "N*(0.1 request/s)*(0.5 us/kB)/(8 core)"),
        ("ceil(N/7)**2", "ceil(N/7)*ceil(N/7)"),
    ],
)
def test_a_formula_written_otherwise_is_the_same(old: str, new: str) -> None:
    assert same_formula(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.b*(c + 1)/d", "a.b*(c + 1)/e"),
        ("erlang_c(N, x)", "erlang_c(x, N)"),
        ("max(a, b)", "min(a, b)"),
        ("ceil(N/7)", "floor(N/7)"),
        ("at most 75 %", "75 % at most"),
    ],
)
def test_another_formula_or_text_is_not(old: str, new: str) -> None:
    assert not same_formula(old, new)


def test_only_what_is_not_as_good_as_the_same_is_a_difference() -> None:
    comparison = Comparison()
    comparison.compare(
        {"a": 1.0, "b": 2.0, "c": "3.0 ms", "d": "a*b", "e": 5.0, "f": True, "gone": 1},
        {"a": 1.0 + 4e-16, "b": 2.0 + 1e-10, "c": "3.0000000001 ms", "d": "b*a", "e": 5.1, "f": 1},
    )
    assert (comparison.last_digits, comparison.close, comparison.rewritten) == (1, 1, 2)
    assert [one.kind for one in comparison.found] == ["e", "f", "gone (gone)"]
