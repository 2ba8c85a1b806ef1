"""`qps serve`: the page after each save, mistakes beside the last one, for this machine only."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import pytest

from qps.cli import main
from qps.commands.serve import Served, listening, make, stamps, watch

SPEC = (
    "users N in 1..100\nmachine box { cpu 1 core }\ncomponent work { cpu 10 ms/packet }\n"
    "topology { node host = box }\n"
    "stream flow { traffic N * 2 packet/s; at host { work } }\n"
)


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    monkeypatch.chdir(tmp_path)
    file = Path("small.qps")
    file.write_text(SPEC, encoding="utf-8")
    return Namespace(
        file=file, scenario=[], set=[], advice=False, variants=200, simulate=False, quiet=True
    )


@pytest.fixture
def port(arguments: Namespace) -> Iterator[int]:
    served = Served()
    make(served, arguments)
    with listening(served, 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def queried(port: int, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    output = answer.read().decode()
    connection.close()
    return answer.status, output


def test_the_frame_shows_the_page_and_its_version(port: int) -> None:
    status, frame = queried(port, "/")
    assert status == 200
    assert 'data-version="1"' in frame
    assert "http" not in frame  # nothing from elsewhere
    status, page = queried(port, "/page")
    assert status == 200
    assert "50 users" in page
    assert json.loads(queried(port, "/state")[1]) == {"version": 1, "wrong": ""}
    assert queried(port, "/serve.js")[0] == queried(port, "/serve.css")[0] == 200


@pytest.mark.parametrize("path", ["/../small.qps", "/small.qps", "/page/x", "/etc/passwd"])
def test_nothing_else_is_served(port: int, path: str) -> None:
    assert queried(port, path)[0] == 404
    assert queried(port, "/", method="POST")[0] == 501


@pytest.mark.parametrize("path", ["/", "/page", "/state", "/serve.js"])
def test_a_name_that_only_leads_here_gets_nothing(port: int, path: str) -> None:
    assert queried(port, path, "evil.example") == (
        403,
        "only requests from this machine are allowed",
    )
    assert queried(port, path, f"evil.example:{port}")[0] == 403
    assert queried(port, path, "127.0.0.1:1")[0] == 403
    assert queried(port, path, f"localhost:{port}")[0] == 200


def test_it_listens_on_the_loopback_address_alone() -> None:
    with listening(Served(), 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_errors_are_shown_above_the_last_page_until_they_are_fixed(
    arguments: Namespace,
) -> None:
    served = Served()
    make(served, arguments)
    page = served.page
    arguments.file.write_text(SPEC.replace("{ work }", "{ wrok }"), encoding="utf-8")
    make(served, arguments)
    assert (served.page, served.version) == (page, 1)
    assert "error[QPS0201]: unknown component `wrok`" in served.wrong
    assert "did you mean `work`?" in served.wrong
    arguments.file.write_text(SPEC.replace("10 ms", "20 ms"), encoding="utf-8")
    make(served, arguments)
    assert (served.wrong, served.version) == ("", 2)
    assert "25 users" in served.page


def test_a_save_is_seen_and_nothing_is_made_without_one(arguments: Namespace) -> None:
    served = Served()
    make(served, arguments)
    versions = []

    def wait(seconds: float) -> None:
        assert seconds < 1
        versions.append(served.version)
        if len(versions) == 3:
            arguments.file.write_text(SPEC + "# longer\n", encoding="utf-8")
        if len(versions) == 5:
            raise KeyboardInterrupt

    seen = stamps([arguments.file, arguments.file.resolve()])
    with pytest.raises(KeyboardInterrupt):
        watch(served, arguments, seen, wait)
    assert versions == [1, 1, 1, 2, 2]


def test_a_module_that_is_used_is_watched(arguments: Namespace, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    module = tmp_path / "parts/steps.qps"
    module.write_text("component work { cpu 10 ms/packet }\n", encoding="utf-8")
    used = SPEC.replace("component work { cpu 10 ms/packet }", 'use "parts/steps.qps"').replace(
        "{ work }", "{ steps.work }"
    )
    arguments.file.write_text(used, encoding="utf-8")
    served = Served()
    make(served, arguments)
    assert served.wrong == ""
    assert module.resolve() in {file.resolve() for file in served.files}


def test_a_port_that_cannot_be_had_is_a_mistake_of_the_command_line(
    arguments: Namespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(Served(), 0) as server:
        for port in (server.server_port, 70_000):
            words = ["serve", str(arguments.file), "--no-browser", "--port", str(port)]
            assert main(words) == 2
            assert "cannot listen on port" in capsys.readouterr().err
