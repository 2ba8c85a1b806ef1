"""The published schemas are those of the types, and what commands print is as they say."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from helpers.measured.measured_runs import MEASURED, STEP
from qps.cli import main
from qps.reports.text.measurements.measurement_text import measured_json, step_json
from qps.reviewing.printed_schemas import PRINTED, schema_files

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
GOLDENS = sorted((ROOT / "tests" / "goldens" / "specs").rglob("*.json"))
SPEC = """\
users N in 1..900
param pace = 10 packet/s +- 5 % source "us"
machine box { cpu 1 core; price 1 $/hour }
machine big { cpu 2 core; price 2 $/hour }
component work { cpu 1 ms/packet }
topology { node host = box }
stream flow { traffic N * pace; at host { work } }
require { flow.latency <= 50 ms }
retry flow { timeout 1 s; retries 2 }
autoscale host in 1..4 { target 70 % }
incident outage { lose host for 10 s }
choose { host in [box * 1..9, big * 1..4] }
expect most { largest_acceptable >= 90; source "us" }
expect exact "a value" { host.cpu.load ~ 10 % within 5 % with N = 10; source "us" }
observe runs "t.csv" { users -> N; busy -> host.cpu.load within 5 %; source "us" }
figure drawn "Loads" { over N in 1..90; line "host" host.cpu.load }
matrix sizes { host in [box, big] }
"""
COMMANDS = {
    "solve": "solve --no-advice --format json site.qps",
    "inverse": "solve --for work.cpu.packet --users N=20 --format json site.qps",
    "sizing": "solve --users 150 --format json site.qps",
    "plan": "plan site.qps --users 100 --format json",
    "diagnostics": "check --format json wrong.qps",
    "test": "test --format json site.qps",
    "drift": "test site.qps --observed runs.csv --format json",
    "explain": "explain site.qps host.cpu.load --format json",
    "figure": "explain site.qps drawn --format json",
    "code": "explain QPS0301 --format json",
    "network": "explain --network site.qps --at 10 --format json",
    "rule": "explain claim-loosened --format json",
    "diff": "diff site.qps other.qps --format json",
    "matrix": "matrix site.qps -o matrix.json -q",
    "simulation": "simulate site.qps --at 10 --seconds 1 --precision 20% --format json",
    "simulated_course": "simulate site.qps --over outage --at 50 --runs 2 --format json",
    "incident": "incident fixed.qps --at 50 --format json",
    "fit": "fit runs.csv --cores 2 --format json",
    "scalability": "fit clients.csv --by threads --format json",
    "trace": "trace trace.csv --period 160ms --format json",
}
ELSEWHERE = {"ci": "tests/review/test_ci_command.py", "history": ""}
"""What takes a repository."""

MADE = {"measured": measured_json(MEASURED), "measured_step": step_json(STEP, "component x { }")}
"""What takes programs to measure: of values that such a run comes to."""


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def wrong(name: str, value: Any) -> list[str]:
    """Return where a value is not as its schema says."""
    return [
        f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(value)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    trace = (ROOT / "specs" / "traces" / "idle.csv").read_text(encoding="utf-8")
    rows = "".join(f"{n * 50},{0.05 * n + 0.001 * (n % 3)}\n" for n in range(1, 15))
    texts = {
        "site.qps": SPEC,
        "fixed.qps": SPEC.replace("autoscale host in 1..4 { target 70 % }\n", ""),  # soon over
        "other.qps": SPEC.replace("1 ms", "2 ms"),
        "wrong.qps": SPEC.replace("pace = 10 packet/s", "pace = 10 ms")
        + "param unused = 1\nlet x = unusde\n",
        "t.csv": "users,busy\n3,0.03\n",
        "runs.csv": f"packet/s,cpu\n{rows}",
        "clients.csv": "threads,request/s\n1,98\n2,203\n4,396\n8,770\n16,812\n",
        "trace.csv": "\n".join(trace.splitlines()[:400]) + "\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_files_are_what_the_types_say() -> None:
    made = dict(schema_files())
    assert {
        path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.glob("*.json")
    } == made, "run `python tests/documents/docs.py`"
    assert COMMANDS.keys() | ELSEWHERE.keys() | MADE.keys() >= PRINTED.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_as_its_schema_says(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(COMMANDS[name].split())
    printed = capsys.readouterr()
    assert status in (0, 1) or name == "diagnostics", printed.err
    file = folder / "matrix.json"
    value = json.loads(file.read_text(encoding="utf-8") if file.exists() else printed.out)
    _holds(name, value)


@pytest.mark.parametrize("name", MADE)
def test_what_measuring_comes_to_is_as_its_schema_says(name: str) -> None:
    _holds(name, json.loads(json.dumps(MADE[name])))


def _holds(name: str, value: dict[str, Any]) -> None:
    """Assert that a value is as its schema says, and that the schema takes nothing else."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert value["schema"] == schema["properties"]["schema"]["const"]
    assert not wrong(name, value)
    for key, result in value.items():  # a schema that takes anything would be none
        assert wrong(name, {**value, key: {"no": {"such": 1}}}) or result == {} or key in OPEN
        assert wrong(name, {other: value[other] for other in value if other != key})
    assert wrong(name, {**value, "new": 1})


OPEN = ("request", "known")


@pytest.mark.parametrize("golden", GOLDENS[::8], ids=lambda path: path.stem)
def test_answers_of_real_specs_are_as_their_schema_says(golden: Path) -> None:
    value = json.loads(golden.read_text(encoding="utf-8"))
    by_name = {key: value[key] for key in value if key not in ("status", "told")}
    assert not wrong("solve", by_name)


FORMER_TYPES = [
    (schema, former, current)
    for schemas, former, current in re.findall(
        r"^\| (.+) \| `(\w+)` \| `(\w+)` \|$",
        (ROOT / "docs/cli/json.md").read_text("utf-8").partition("## Former names of types")[2],
        re.MULTILINE,
    )
    for schema in re.findall(r"\w+", schemas)
]


def test_former_names_of_types_are_gone_and_the_current_ones_are_there() -> None:
    assert len(FORMER_TYPES) >= 40
    types = {name: set(validator(name).schema["$defs"]) for name, _, _ in FORMER_TYPES}
    assert [row for row in FORMER_TYPES if row[2] not in types[row[0]]] == []
    assert [row for row in FORMER_TYPES if row[1] in types[row[0]]] == []
