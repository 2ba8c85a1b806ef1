"""`qps observe prometheus` asks a real Prometheus, which scrapes a real exporter on loopback."""

from __future__ import annotations

import csv
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from helpers.nightly import nightly
from processes.ports import free_port
from qps.cli import main
from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.control_groups import ControlGroup, control_group, new_group

PROMETHEUS = shutil.which("prometheus")
pytestmark = pytest.mark.skipif(
    PROMETHEUS is None, reason="there is no Prometheus: apt-get install prometheus"
)
CPU, REQUESTS = "process_cpu_seconds_total", 'prometheus_http_requests_total{handler="/-/healthy"}'
_PATIENCE = 120.0
_WORK, _STILL = 1.0, 0.05
"""Seconds of a processor: that it is made to use, and beside which it rests."""
_MARGIN = 2.5


def get(url: str) -> bytes:
    with urlopen(url, timeout=5) as answer:
        return bytes(answer.read())


def value_at(url: str, query: str, moment: float) -> float:
    options = urlencode({"query": query, "time": f"{moment:.3f}"})
    [found] = json.loads(get(f"{url}/api/v1/query?{options}"))["data"]["result"]
    return float(found["value"][1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with prometheus(tmp_path) as url:
        yield url


@contextmanager
def prometheus(folder: Path, group: ControlGroup | None = None) -> Iterator[str]:
    """Run a Prometheus that scrapes itself, five times a second; it is its own exporter."""
    port = free_port()
    (folder / "p.yml").write_text(
        f"scrape_configs: [{{job_name: it, scrape_interval: 200ms, scrape_timeout: 200ms, "
        f"static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n",
        encoding="utf-8",
    )
    assert PROMETHEUS is not None
    words = (PROMETHEUS, f"--config.file={folder}/p.yml", f"--storage.tsdb.path={folder}/data")
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + _PATIENCE
    with running((*words, f"--web.listen-address=127.0.0.1:{port}"), group) as child:
        while time.monotonic() < end:
            try:
                get(f"{url}/-/ready")
                break
            except (URLError, OSError):
                assert child.ending is None, child.last_words()
                time.sleep(0.1)
        yield url


def test_rows_are_what_the_counters_grew_by(server: str, tmp_path: Path) -> None:
    out = tmp_path / "web.csv"
    options = ["observe", "prometheus", server, "--since", "3s", "--window", "1s"]
    words = [*options, "--cpu", CPU, "--rate", f"request={REQUESTS}", "-o", str(out), "--until"]
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:  # until there are windows, on however busy a machine
        for _ in range(20):
            get(f"{server}/-/healthy")
            time.sleep(0.1)
        # What is scraped at this moment comes in later: both questions are of what is there.
        if main([*words, datetime.fromtimestamp(time.time() - 2, UTC).isoformat()]) == 0:
            break
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert rows
    for row in rows:
        start = datetime.fromisoformat(row["time"]).timestamp()
        for query, heading in ((CPU, "cpu in core"), (REQUESTS, "request/s")):
            grown = value_at(server, query, start + 1) - value_at(server, query, start)
            assert float(row[heading]) == pytest.approx(grown)


def ask_much(url: str, seconds: float) -> None:
    """Ask what takes it long to tell."""
    now = time.time()
    span = {"start": f"{now - seconds:.3f}", "end": f"{now:.3f}", "step": "0.1"}
    options = urlencode({"query": "count({job='it'})"} | span)
    get(f"{url}/api/v1/query_range?{options}")


def until_still(url: str, group: ControlGroup) -> tuple[float, float]:
    """Return what the counter and the group say, once a scrape has seen all that was used."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        before, result = group.used(), value_at(url, CPU, time.time())
        time.sleep(0.5)
        after, again = group.used(), value_at(url, CPU, time.time())
        # Between, only scrapes were answered, and these questions.
        if after - before < _STILL and again - result < _STILL:
            return again, after
    pytest.skip("it does not come to rest")


@nightly
def test_its_counter_is_what_the_control_group_counts(tmp_path: Path) -> None:
    """`process_cpu_seconds_total`, which nearly all exporters have, is told in ticks of 10 ms."""
    group = new_group("qps-prometheus")
    if isinstance(group, str):
        pytest.skip(group)
    with control_group(group), prometheus(tmp_path, group) as url:
        ask_much(url, seconds=1)  # from then on it counts such questions, too
        while True:  # until it has scraped itself
            try:
                result, used = until_still(url, group)
                break
            except ValueError:
                time.sleep(0.2)
        begun = time.time()
        time.sleep(_MARGIN)  # the first windows are left out, and those that are not all there yet
        end = time.monotonic() + _PATIENCE
        while group.used() < used + _WORK and time.monotonic() < end:
            ask_much(url, seconds=600)
        later, in_all = until_still(url, group)
        out = tmp_path / "own.csv"
        time.sleep(_MARGIN)
        since = time.time() - begun
        words = ["observe", "prometheus", url, "--since", f"{since:.0f}s", "--window", "1s"]
        rates = ["--rate", 'request=prometheus_http_requests_total{handler="/api/v1/query_range"}']
        assert main([*words, "--cpu", CPU, *rates, "-o", str(out), "--rows", "1000"]) == 0
    work = in_all - used
    assert work > _WORK / 2
    assert later - result == pytest.approx(work, rel=0.03, abs=0.06)
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    # A row a second, but for those that are left out as they come first.
    assert sum(float(row["cpu in core"]) for row in rows) == pytest.approx(work, rel=0.1, abs=0.2)


def test_what_it_refuses_is_reported_in_its_words(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ["observe", "prometheus", server, "--since", "10s", "--window", "1s", "--cpu"]
    for query, result in (
        ("up{", "Prometheus rejects `up{`: 1:4: parse error"),
        ("none_such_total", "`none_such_total` has no data in this period"),
    ):
        assert main([*url, query, "--rate", "request=x"]) == 2
        assert result in capsys.readouterr().err
