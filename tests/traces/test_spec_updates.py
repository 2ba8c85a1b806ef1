"""Specs are brought up to date: what was observed follows, all else stays as it was written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from qps.cli import main
from qps.reports.text.systems.updates.evidence import Evidence, evidence_of
from qps.reports.text.systems.updates.number_drift import number_drifts
from qps.reports.text.systems.updates.observed_numbers import ObservedNumber
from qps.reports.text.systems.updates.request_spreads import Spreads
from traces.small_systems import SYSTEMS
from traces.written_traces import FORMATS, Work, as_text, spans_of

UPDATE = ["observe", "traces", "traces.json", "--into", "shop.qps"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which files have short names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _requests(count: int, share: float, own: float = 2.0) -> list[Work]:
    """Return requests of which a share reads from the database, three times."""
    redis = Work(service="redis", operation="GET", own=0.4, bare=True)
    read = Work(service="db", operation="SELECT", own=9, bare=True)
    every = round(1 / share)
    return [
        Work(
            service="front",
            operation="GET /item",
            own=own + (number % 7) / 10,
            calls=(redis, *((read,) * 3 if number % every == 0 else ())),
        )
        for number in range(count)
    ]


def _write(requests: Sequence[Work]) -> None:
    text = as_text(FORMATS["otlp"](spans_of(requests)))
    Path("traces.json").write_text(text, encoding="utf-8")


def _spec(requests: Sequence[Work], *more: str) -> Path:
    _write(requests)
    assert main(["observe", "traces", "traces.json", "-q", "-o", "shop.qps", *more]) == 0
    return Path("shop.qps")


def test_what_has_not_drifted_is_not_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = _spec(_requests(200, 0.25))
    before = spec.read_bytes()
    _write(_requests(160, 0.25))
    assert main(UPDATE) == 0
    assert spec.read_bytes() == before
    assert "drifted" in capsys.readouterr().out.split("\n")[0]


def test_numbers_follow_and_all_else_stays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = _spec(_requests(200, 0.25))
    mine = spec.read_text(encoding="utf-8")
    mine = mine.replace("users N in", "# mine: the whole population\nusers N in")
    mine = mine.replace("  at front {", "  # mine: within\n  at front {")
    mine += "\n# mine: a requirement\nrequire { get_item.p95 <= 500 ms }\n"
    spec.write_bytes(mine.replace("\n", "\r\n").encode())
    _write(_requests(300, 0.5))
    assert main(UPDATE) == 0
    printed = capsys.readouterr().out
    assert "share of requests that call" in printed
    content = spec.read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n")
    text = content.decode().replace("\r\n", "\n")
    assert "50 %: call db * 3 " in text
    assert "# 450 by 150 of 300" in text
    for line in mine.splitlines():
        if "mine" in line or "QUESTION" in line or line.startswith(("require", "func", "machine")):
            assert line in text.splitlines()
    assert len(text.splitlines()) == len(mine.splitlines())
    assert main(["test", "shop.qps"]) == 0
    assert main(["fmt", "--check", "shop.qps"]) == 0


def test_an_updated_spec_is_the_one_that_would_be_written(here: Path) -> None:
    spec = _spec(_requests(200, 0.25))
    _write(_requests(300, 0.5))
    assert main([*UPDATE, "-q"]) == 0
    updated = spec.read_text(encoding="utf-8")
    spec.unlink()
    assert _spec(_requests(300, 0.5)).read_text(encoding="utf-8") == updated


def test_a_dry_run_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = _spec(_requests(200, 0.25))
    before = spec.read_bytes()
    _write(_requests(300, 0.5))
    assert main([*UPDATE, "--dry-run"]) == 1
    assert spec.read_bytes() == before
    printed = capsys.readouterr().out
    assert "-    25 %: call db * 3 { db_select }" in printed
    assert "+    50 %: call db * 3 { db_select }" in printed


def test_numbers_of_the_person_stay_unless_they_are_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = _spec(_requests(200, 0.25))
    text = spec.read_text(encoding="utf-8")
    assert 'param get_item_rate = 10 request/s source "200 in 20 s"' in text
    own = 'param get_item_rate = 70 request/s source "sales, May"'
    text = text.replace('param get_item_rate = 10 request/s source "200 in 20 s"', own)
    spec.write_text(text, encoding="utf-8")
    _write(_requests(300, 0.5))
    assert main(UPDATE) == 0
    assert own in spec.read_text(encoding="utf-8")
    assert "get_item_rate (line 16) stays `70 request/s`" in capsys.readouterr().out
    assert main([*UPDATE, "--replace", "get_item_rate"]) == 0
    rate = 'param get_item_rate = 10 request/s source "300 in 30 s"'
    assert rate in spec.read_text(encoding="utf-8")
    assert main([*UPDATE, "--replace", "get_itm_rate"]) == 2
    assert "get_item_rate" in capsys.readouterr().err


def test_names_that_a_person_chose_stay(here: Path) -> None:
    spec = _spec(_requests(200, 0.25))
    text = spec.read_text(encoding="utf-8")
    for old, new in (
        ("db_select", "lookup"),
        ("get_item", "item_page"),
        ("front_item_page", "page"),
    ):
        text = text.replace(old, new)
    spec.write_text(text, encoding="utf-8")
    assert main(["fmt", "-q", "shop.qps"]) == 0
    _write(_requests(300, 0.5))
    assert main([*UPDATE, "-q"]) == 0
    after = spec.read_text(encoding="utf-8")
    assert "50 %: call db * 3 { lookup }" in after
    assert 'param item_page_rate = 10 request/s source "300 in 30 s"' in after
    assert "component page {" in after
    assert main(["test", "shop.qps"]) == 0


def test_an_assumed_cost_becomes_the_measured_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = _spec(_requests(200, 0.25))
    rows = [f"{t},front,{0.002 * (10 + t) + 0.0001 * (t % 2)},{10 + t}" for t in range(12)]
    table = "time,service,cpu (cores),requests/s\n" + "\n".join(rows) + "\n"
    Path("cpu.csv").write_text(table, encoding="utf-8")
    assert main([*UPDATE, "--cpu", "cpu.csv"]) == 0
    text = spec.read_text(encoding="utf-8")
    assert 'ms/request +- 0.11 % source "12 windows of cpu.csv"' in text
    assert "param db_cpu    = between 0.1 and 10 ms/request" in text
    assert "measured now, assumed before: front_cpu" in capsys.readouterr().out


def test_what_the_spec_lacks_is_named_and_not_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _spec(_requests(200, 0.25))
    mail = Work(service="mailer", operation="send", own=4)
    more = [Work(service="front", operation="GET /item", own=2, calls=(mail,)) for _ in range(200)]
    _write(more)
    assert main(UPDATE) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not in the spec: service `mailer`, call `get_item > mailer_send`" in printed
    assert (
        "no longer observed: service `redis`, service `db`, call `get_item > redis_get`" in printed
    )


def test_blocks_of_a_spec_stay_though_new_calls_go_together_otherwise(here: Path) -> None:
    """First the same requests call both services, then one of them is called less often."""
    one, two = (Work(service=name, operation="Get", own=1) for name in ("one", "two"))
    both = [
        Work(service="front", operation="GET /", own=1, calls=(one, two) if n % 2 else ())
        for n in range(200)
    ]
    spec = _spec(both)
    assert "50 %: {" in spec.read_text(encoding="utf-8")
    apart = [
        Work(
            service="front",
            operation="GET /",
            own=1,
            calls=((one,) if n % 5 else ()) + ((two,) if n % 5 == 1 else ()),
        )
        for n in range(200)
    ]
    _write(apart)
    assert main([*UPDATE, "-q"]) == 0
    text = spec.read_text(encoding="utf-8")
    assert "80 %: {" in text
    assert "call two_service * 25 % { two_service_get }" in text
    assert main(["test", "shop.qps"]) == 0


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_system_is_up_to_date_with_its_own_traces(name: str, here: Path) -> None:
    spec = _spec(SYSTEMS[name])
    before = spec.read_bytes()
    assert main([*UPDATE, "--dry-run"]) == 0
    assert spec.read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--dry-run"], "`--dry-run` requires `--into FILE.qps`"),
        (["--replace", "x"], "`--replace` requires `--into FILE.qps`"),
        (["--into", "shop.qps", "-o", "new.qps"], "`-o` cannot be combined with `--into`"),
        (["--into", "absent.qps"], "absent.qps"),
    ],
)
def test_flags_that_do_not_go_together(
    flags: list[str], reason: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _spec(_requests(20, 0.25))
    assert main(["observe", "traces", "traces.json", *flags]) == 2
    assert reason in capsys.readouterr().err


def test_replicas_of_manifests_follow(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compose = "services:\n  web:\n    deploy: {replicas: %d, resources: {limits: {cpus: '2'}}}\n"
    manifest = Path("compose.yaml")
    manifest.write_text(compose % 3, encoding="utf-8")
    assert main(["observe", "manifests", "compose.yaml", "-q", "-o", "shop.qps"]) == 0
    update = ["observe", "manifests", "compose.yaml", "--into", "shop.qps"]
    assert main(update) == 0
    manifest.write_text(compose % 5, encoding="utf-8")
    assert main(update) == 0
    text = Path("shop.qps").read_text(encoding="utf-8")
    assert 'param web_count = 5 in 1..10_000 source "replicas in compose.yaml"' in text
    assert "1 of 2 numbers drifted" in capsys.readouterr().out


def _calls(made: int, of: int) -> ObservedNumber:
    text = f"{made} of {of}"
    fields = evidence_of("calls", text)
    assert fields is not None
    evidence = Evidence(kind="calls", text=text, start=0, end=0, fields=fields)
    return ObservedNumber(name="x", kind="calls", start=0, end=0, text="", evidence=evidence)


def test_chance_alone_hardly_ever_counts_as_drift() -> None:
    """Of updates with 20 shares that have not changed, at most 1 % raise an alarm."""
    draw = random.Random(5)
    alarms = 0
    for _ in range(1000):
        shares = [draw.uniform(0.1, 0.9) for _ in range(20)]
        found = [
            drift
            for share in shares
            for drift in number_drifts(
                *(_calls(sum(draw.random() < share for _ in range(150)), 150) for _ in range(2)),
                ("s", "x"),
                Spreads(),
            )
        ]
        alarms += any(one.is_drift(len(found)) for one in found)
    assert 1 <= alarms <= 20


def test_a_share_that_has_doubled_is_found() -> None:
    found = number_drifts(_calls(30, 150), _calls(60, 150), ("s", "x"), Spreads())
    assert [one.is_drift(20) for one in found] == [True]
