"""One deadline for all of an exchange over HTTP, and credentials for the named server alone.

What is asked is the command: `qps observe prometheus`, and `qps measure --from URL`.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from processes.fake_prometheus import Fake, fake_prometheus
from processes.hostile_servers import KINDS, TLS, Kind, hostile, once
from qps import http_exchange
from qps.cli import main
from qps.compiler.measurement.campaigns import item_counts
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.observations import prometheus_server
from qps.http_exchange import is_here

UNTIL = 1_795_392_000
PROXIES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
EMPTY = b'{"status":"success","data":{"resultType":"matrix","result":[]}}'
TOKEN = "s3cret"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def ends_all() -> Iterator[None]:
    """Hold that no thread of ours goes on, once its server has been given up."""
    yield
    for thread in threading.enumerate():
        if thread.name == "qps-http":
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_server, "_ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(item_counts, "_PATIENCE", 0.3)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QPS_PROMETHEUS_TOKEN", TOKEN)


def observe(url: str, *more: str) -> int:
    options = ["--until", "2026-11-23T00:00Z", "--since", "1d", "--cpu", "cpu"]
    return main(["observe", "prometheus", url, *options, "--rate", "request=requests", *more])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_server_without_end_is_given_up(
    kind: Kind, short: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with hostile(kind) as port:
        assert observe(f"http://127.0.0.1:{port}") == 2
    errors = capsys.readouterr().err
    if "status 102" in errors:  # one that is no answer, told at once
        assert "fails (status 102)" in errors
    else:
        assert f"`127.0.0.1:{port}` takes longer than 0.3 s for one response" in errors


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_status_page_without_end_is_given_up(kind: Kind, short: None) -> None:
    with hostile(kind) as port, pytest.raises(MeasuringError) as error:
        item_counts.page_or_output(f"http://127.0.0.1:{port}/status")
    assert "no complete response within 0.3 s" in str(error.value) or "status 102" in str(
        error.value
    )


@pytest.mark.parametrize("kind", TLS.values(), ids=TLS)
def test_a_handshake_without_end_is_given_up(
    kind: Kind, short: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with hostile(kind) as port:
        assert observe(f"https://127.0.0.1:{port}") == 2
    assert "takes longer than 0.3 s for one response" in capsys.readouterr().err


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_proxy_without_end_is_given_up(
    kind: Kind, scheme: str, short: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with hostile(kind) as port:
        status = observe(f"{scheme}://qps.test", "--proxy", f"http://127.0.0.1:{port}")
    assert status == 2
    errors = capsys.readouterr().err
    if scheme == "https" and "takes longer" not in errors:  # it answered CONNECT, but speaks no TLS
        assert "no response from `qps.test`: " in errors
    else:
        assert "takes longer than 0.3 s" in errors or "status 102" in errors


def test_a_name_that_is_never_found_is_given_up() -> None:
    # A process of its own: it must end, too, while the name is still looked up.
    program = (
        "import socket, sys, threading\n"
        "from qps.compiler.measurement.observations import prometheus_server\n"
        "from qps.cli import main\n"
        "socket.getaddrinfo = lambda *_, **__: threading.Event().wait()\n"
        "prometheus_server._ANSWER_SECONDS = 0.3\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["observe", "prometheus", "http://qps.test", "--cpu", "cpu", "--rate", "request=a"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "`qps.test` takes longer than 0.3 s for one response" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue of connections waits on Linux")
def test_a_connection_that_is_never_made_is_given_up(
    short: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(listening.getsockname())
            assert observe(f"http://127.0.0.1:{listening.getsockname()[1]}") == 2
        finally:
            for one in waiting:
                one.close()
    errors = capsys.readouterr().err
    assert "takes longer than 0.3 s" in errors or "timed out" in errors


def test_all_queries_together_have_a_deadline(
    short: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus_server, "_ANSWER_SECONDS", 100.0)
    monkeypatch.setattr(prometheus_server, "_ALL_SECONDS", 0.3)
    with hostile(KINDS["a body byte by byte"]) as port:
        assert observe(f"http://127.0.0.1:{port}") == 2
    assert "minutes in total" in capsys.readouterr().err


# -- who is sent what ---------------------------------------------------------------------------


@pytest.fixture
def fake() -> Iterator[Fake]:
    with fake_prometheus(cpu=lambda t: t - UNTIL, requests=lambda t: 9 * t) as found:
        yield found


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[bytes]]]:
    """Give a proxy that all variables name, and what it has received."""
    received: list[bytes] = []
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(EMPTY) + EMPTY
    with hostile(once(answer), received) as port:
        url = f"http://127.0.0.1:{port}"
        for name in PROXIES:
            monkeypatch.setenv(name, url)
        yield url, received


def test_a_proxy_of_the_environment_is_never_used_for_this_machine(
    fake: Fake, proxy: tuple[str, list[bytes]], token: None
) -> None:
    assert observe(fake.url) == 0
    assert proxy[1] == []
    assert {headers["Authorization"] for headers in fake.headers} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("url", ["http://qps.invalid", "https://localhost:9", "https://[::1]:9"])
def test_a_proxy_of_the_environment_is_never_sent_a_token(
    url: str, proxy: tuple[str, list[bytes]], token: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert observe(url) == 2
    assert "no response from" in capsys.readouterr().err
    assert proxy[1] == []


def test_a_status_page_is_read_from_this_machine(proxy: tuple[str, list[bytes]]) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42"
    with hostile(once(page)) as port:
        assert item_counts.page_or_output(f"http://127.0.0.1:{port}/") == "42"
    assert proxy[1] == []


def test_a_proxy_of_the_environment_sees_nothing_of_what_goes_over_tls(
    proxy: tuple[str, list[bytes]], token: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert observe("https://qps.test") == 2  # this proxy speaks no TLS
    [received] = proxy[1]
    assert received.startswith(b"CONNECT qps.test:443 HTTP/1.")
    assert TOKEN.encode() not in received
    assert b"query" not in received


def test_a_proxy_that_is_named_is_used(
    proxy: tuple[str, list[bytes]],
    token: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name)
    assert observe("http://qps.test:9090/at", "--proxy", proxy[0]) == 2
    assert "`cpu` has no data in this period" in capsys.readouterr().err
    assert proxy[1][0].startswith(b"GET http://qps.test:9090/at/api/v1/query_range?query=cpu&")
    assert f"Authorization: Bearer {TOKEN}".encode() in proxy[1][0]
    assert b"Host: qps.test:9090\r\n" in proxy[1][0]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("http://me:s3cret@127.0.0.1:1", "credentials in an address"),
        ("https://127.0.0.1:1", "the proxy must be an `http://` address"),
        ("socks5://127.0.0.1:1", "is not an `http://` or `https://` address"),
        ("127.0.0.1:1", "is not an `http://` or `https://` address"),
        ("http://", "is not an `http://` or `https://` address"),
    ],
)
def test_what_is_no_proxy_is_reported(
    fake: Fake, named: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert observe(fake.url, "--proxy", named) == 2
    printed = capsys.readouterr().err
    assert expected in printed
    assert TOKEN not in printed
    assert fake.headers == []


@pytest.mark.parametrize("value", ["socks5://me:s3cret@127.0.0.1:1", "http://me:s3cret@:0", "::"])
def test_a_wrong_proxy_of_the_environment_is_reported_without_its_password(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    assert observe("https://qps.test") == 2
    errors = capsys.readouterr().err
    assert "the proxy must be an address such as" in errors
    assert TOKEN not in errors


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_sent_anything_by_a_redirection(
    fake: Fake, token: None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    received: list[bytes] = []
    with hostile(once(b""), received) as port:
        for to in (f"http://127.0.0.1:{port}/", f"//127.0.0.1:{port}/", "/again", "http://[::"):
            fake.reply = (status, {"Location": to}, b"")
            fake.headers.clear()
            assert observe(fake.url) == 2
            assert f"redirects (status {status}:" in capsys.readouterr().err
            assert len(fake.headers) == 1
        with pytest.raises(MeasuringError, match=f"status {status}, redirected to http"):
            item_counts.page_or_output(fake.url)
    assert received == []


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("localhost.example", False),
        ("128.0.0.1", False),
        ("::2", False),
        ("example.org", False),
        ("", False),
        (None, False),
    ],
)
def test_which_hosts_are_this_machine(host: str | None, *, expected: bool) -> None:
    assert is_here(host) is expected


@pytest.mark.parametrize(
    "url", ["ftp://a", "http://", "http://a:b", "http://me:s3cret@a", "http://[", "http://a:0"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(http_exchange.ExchangeError, match="not a valid address"):
        http_exchange.exchange(url, seconds=1, most_bytes=1)


@pytest.mark.parametrize("path", ["/ä", "/a b", "/%20", "/😀?q=ü&r=a b"])
def test_a_path_is_sent_whatever_is_in_it(path: str) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42"
    received: list[bytes] = []
    with hostile(once(page), received) as port:
        url = f"http://127.0.0.1:{port}{path}"
        assert http_exchange.exchange(url, seconds=20, most_bytes=9).body == b"42"
    assert received[0].split(b" HTTP/1.1")[0].isascii()


def test_headers_that_cannot_be_sent_are_reported() -> None:
    with hostile(once(b"")) as port, pytest.raises(http_exchange.ExchangeError):
        http_exchange.exchange(
            f"http://127.0.0.1:{port}", seconds=20, most_bytes=9, headers={"X": "a\r\nb: c"}
        )
