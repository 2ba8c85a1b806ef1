"""`qps observe prometheus` asks a real Prometheus, which scrapes a real exporter on loopback."""

from __future__ import annotations

import csv
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from qps.cli import main

PROMETHEUS = shutil.which("prometheus")
pytestmark = pytest.mark.skipif(
    PROMETHEUS is None, reason="there is no Prometheus: apt-get install prometheus"
)
CPU, REQUESTS = "process_cpu_seconds_total", 'prometheus_http_requests_total{handler="/-/healthy"}'
_PATIENCE = 30.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def get(url: str) -> bytes:
    with urlopen(url, timeout=5) as answer:
        return bytes(answer.read())


def value_at(url: str, query: str, moment: float) -> float:
    asked = urlencode({"query": query, "time": f"{moment:.3f}"})
    [found] = json.loads(get(f"{url}/api/v1/query?{asked}"))["data"]["result"]
    return float(found["value"][1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Run a Prometheus that scrapes itself, five times a second; it is its own exporter."""
    port = free_port()
    (tmp_path / "p.yml").write_text(
        f"scrape_configs: [{{job_name: it, scrape_interval: 200ms, scrape_timeout: 200ms, "
        f"static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n",
        encoding="utf-8",
    )
    assert PROMETHEUS is not None
    words = [PROMETHEUS, "--config.file=p.yml", "--storage.tsdb.path=data"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [*words, f"--web.listen-address=127.0.0.1:{port}"], cwd=tmp_path, stderr=log, stdout=log
        )
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + _PATIENCE
    try:
        while time.monotonic() < end:
            try:
                get(f"{url}/-/ready")
                break
            except (URLError, OSError):
                assert process.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def test_rows_are_what_the_counters_grew_by(server: str, tmp_path: Path) -> None:
    out = tmp_path / "web.csv"
    asked = ["observe", "prometheus", server, "--since", "3s", "--window", "1s"]
    words = [*asked, "--cpu", CPU, "--rate", f"request={REQUESTS}", "-o", str(out), "--until"]
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


def test_what_it_refuses_is_told_in_its_words(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ["observe", "prometheus", server, "--since", "10s", "--window", "1s", "--cpu"]
    for query, told in (
        ("up{", "Prometheus refuses `up{`: 1:4: parse error"),
        ("none_such_total", "nothing is there of `none_such_total`"),
    ):
        assert main([*url, query, "--rate", "request=x"]) == 2
        assert told in capsys.readouterr().err
