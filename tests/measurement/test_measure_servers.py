"""`qps measure` on real servers, where Debian's packages of them are installed.

What is asserted are ratios of processor time, medians of three, far from what trials found
(shared/reference/measuring.md): a new connection cost twice a kept one, a request in a batch of 16
a seventh. Where repetitions lie too far apart, the machine is too busy to tell.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers.nightly import nightly
from processes.ports import free_port
from qps.cli import main
from qps.compiler.measurement.campaigns.process_table import is_supported

pytestmark = pytest.mark.skipif(not is_supported(), reason="qps measure needs Linux")

_APART = 0.5


def need(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")


def costs(capsys: pytest.CaptureFixture[str], words: list[str]) -> dict[str, float]:
    """The seconds of a processor for each request, by the value of the one thing that is varied."""
    status = main(words)
    output = capsys.readouterr()
    assert status == 0, output.out + output.err
    found = json.loads(output.out)
    rows = found["rows"]
    apart = max(row["spread"] for row in rows)
    if apart > _APART:
        pytest.skip(f"repetitions lie {apart:.0%} apart: this machine is too busy")
    return {next(iter(row["setting"].values())): row["each"] for row in rows}


@nightly
def test_new_connections_cost_more_than_reused_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("nginx", "ab")
    monkeypatch.chdir(tmp_path)
    port = free_port()
    Path("1").write_bytes(b"x" * 1000)
    tmp_path.chmod(0o755)
    Path("nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {tmp_path}/pid; error_log {tmp_path}/errors;\n"
        "events { worker_connections 64; }\n"
        f"http {{ access_log off; server {{ listen 127.0.0.1:{port}; root {tmp_path}; }} }}\n"
    )
    words = ["measure", "web.csv", "--server", f"nginx -c {tmp_path}/nginx.conf"]
    words += ["--vary", "connections in -k, -d", "--count", r"Complete requests:\s+(\d+)"]
    words += ["--format", "json", "--no-check", "--"]
    words += ["ab", "-q", "-n", "4000", "-c", "4", "{connections}", f"http://127.0.0.1:{port}/1"]
    found = costs(capsys, words)
    assert found["-d"] > 1.3 * found["-k"]


def test_requests_in_batches_cost_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("redis-server", "redis-benchmark", "redis-cli")
    monkeypatch.chdir(tmp_path)
    port = str(free_port())
    words = ["measure", "redis.csv", "--vary", "batch in 1, 16", "--seconds", "0.4"]
    words += ["--server", f"redis-server --port {port} --save '' --appendonly no"]
    words += ["--from", f"redis-cli -p {port} info stats", "--warm-up", "0.2"]
    words += ["--count", r"total_commands_processed:(\d+)", "--format", "json", "--no-check", "--"]
    words += ["redis-benchmark", "-p", port, "-t", "get", "-n", "1000000000", "-c", "4"]
    found = costs(capsys, [*words, "-P", "{batch}", "-q"])
    assert found["16"] < found["1"] / 3
