"""One question over HTTP: to the server that was named, and with one deadline for all of it.

Timeouts of sockets are for each read: a server that drips a byte a second, or sends `100 Continue`
without end, is never too slow for them. So the exchange is made by a thread, and whoever waits
for it gives up at the deadline: finding the address, connecting, TLS, the proxy, headers and body
together. The connection is then shut down, which ends the thread, too.

Nothing is followed: a redirection is an answer like others. Nothing is taken from `.netrc`. A proxy
is used where one is named; one of the environment only for `https://` to another machine, where it
sees the name of the server and nothing that is sent.
"""

from __future__ import annotations

import ssl
import threading
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv6Address, ip_address
from socket import SHUT_RDWR
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

_PIECE = 1 << 16
_SHOWN = 300
_PORTS = {"http": 80, "https": 443}
_SENT_AS_IS = "/%:=&?~#+!$,;'@()*[]"
"""What stands in an address as it is; all other characters that are no letters are escaped."""


class Response(Struct, frozen=True):
    """What a server answered; `location` is where it sends elsewhere, or empty."""

    status: int
    location: str
    body: bytes


class ExchangeError(Exception):
    """There is no answer; the text says why."""


class TooSlowError(ExchangeError):
    """The deadline has come before the end of the answer."""


class ResponseTooLargeError(ExchangeError):
    """The answer is longer than what is allowed."""


def exchange(
    url: str,
    *,
    seconds: float,
    most_bytes: int,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
) -> Response:
    """Return the answer to a GET of an `http://` or `https://` address, whatever its status.

    `headers` go to its server alone. An ExchangeError says, within
    `seconds`, why there is no answer.
    """
    address = _parsed(url, ("http", "https"))
    if address is None or address.username is not None:
        raise ExchangeError("this is not a valid address")
    if seconds <= 0:
        raise TooSlowError("timed out")
    by_way_of = _proxy(address, proxy)
    exchanged = _Exchange(
        address,
        proxy=by_way_of,
        seconds=seconds,
        most_bytes=most_bytes,
        headers=headers or {},
    )
    exchanged.start()
    try:
        exchanged.join(seconds)
    finally:
        is_late = exchanged.is_alive()
        exchanged.give_up()
    if is_late:
        raise TooSlowError(_too_slow(seconds))
    if exchanged.error is not None:
        raise exchanged.error
    assert exchanged.response is not None
    return exchanged.response


def is_here(host: str | None) -> bool:
    """Return whether a host is this machine, by its name or address."""
    name = (host or "").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    found = mapped or address
    return found.is_loopback or found.is_unspecified


class _Exchange(threading.Thread):
    """One exchange. It may be late for ever: nobody waits for it when the program ends."""

    def __init__(
        self,
        address: SplitResult,
        *,
        proxy: SplitResult | None,
        seconds: float,
        most_bytes: int,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(name="qps-http", daemon=True)
        self.response: Response | None = None
        self.error: Exception | None = None
        self._target, sent = _target(address), dict(headers)
        self._connection = _connection(address, proxy, seconds)
        if proxy is not None and address.scheme == "http":
            self._target = address._replace(path="", query="").geturl() + self._target
            sent |= _proxy_credentials(proxy)
        self._headers = {"Connection": "close", "User-Agent": "qps", **sent}
        self._most, self._seconds = most_bytes, seconds
        self._is_aborted = threading.Event()

    def run(self) -> None:
        """Ask, and note what comes of it."""
        try:
            self.response = self._answer()
        except ExchangeError as error:
            self.error = error
        except TimeoutError as error:  # of our own timeout; one of the system has a number
            self.error = _failed(error) if error.errno else TooSlowError(_too_slow(self._seconds))
        except (HTTPException, OSError, ValueError) as error:  # ValueError: of idna, of headers
            self.error = _failed(error)
        except Exception as error:  # noqa: BLE001 - a fault of ours is raised by who waits
            self.error = error
        finally:
            self._connection.close()

    def give_up(self) -> None:
        """Shut down the connection, so that whatever waits for it ends."""
        self._is_aborted.set()
        sock = self._connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(SHUT_RDWR)

    def _answer(self) -> Response:
        self._connection.connect()
        if self._is_aborted.is_set():  # it was not there yet to be shut down
            raise ExchangeError("timed out")
        self._connection.request("GET", self._target, headers=self._headers)
        with self._connection.getresponse() as response:
            pieces, size = [], 0
            while piece := response.read1(_PIECE):  # what is there: `read` would wait for all of it
                pieces.append(piece)
                size += len(piece)
                if size > self._most:
                    raise ResponseTooLargeError(f"the response is longer than {self._most:,} bytes")
            location = response.getheader("Location") or ""
            return Response(response.status, location, b"".join(pieces))


def _too_slow(seconds: float) -> str:
    return f"no complete response within {seconds:g} s"


def _failed(error: Exception) -> ExchangeError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ExchangeError(reason[:_SHOWN])


def _target(address: SplitResult) -> str:
    """Return what is demanded of a server: the path, and the query."""
    found = quote(address.path or "/", safe=_SENT_AS_IS)
    return f"{found}?{quote(address.query, safe=_SENT_AS_IS)}" if address.query else found


def _connection(address: SplitResult, proxy: SplitResult | None, seconds: float) -> HTTPConnection:
    """Return a connection that is not open yet, to a server or to the proxy on the way to it."""
    host, port = address.hostname or "", address.port or _PORTS[address.scheme]
    to = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or _PORTS["http"])
    if address.scheme == "http":
        return HTTPConnection(*to, timeout=seconds)
    found = HTTPSConnection(*to, timeout=seconds, context=ssl.create_default_context())
    if proxy is not None:
        found.set_tunnel(host, port, _proxy_credentials(proxy))
    return found


def _parsed(text: str, schemes: tuple[str, ...]) -> SplitResult | None:
    """Return an address of one of some schemes; None where it is none."""
    try:
        found = urlsplit(text)
        is_one = found.scheme in schemes and bool(found.hostname) and found.port != 0
    except ValueError:
        return None
    return found if is_one else None


def _proxy(address: SplitResult, named: str | None) -> SplitResult | None:
    """Return the proxy; None where the server is contacted directly."""
    text = named or ""
    if named is None and address.scheme == "https" and not is_here(address.hostname):
        host = address.hostname or ""
        text = "" if proxy_bypass(host) else getproxies().get("https", "")
    if not text:
        return None
    found = _parsed(text if "://" in text else f"http://{text}", ("http",))
    if found is None:  # not shown: it may hold a password
        raise ExchangeError("the proxy must be an address such as `http://127.0.0.1:3128`")
    return found


def _proxy_credentials(proxy: SplitResult) -> dict[str, str]:
    """Return the header with the credentials for a proxy, where its address holds that."""
    if proxy.username is None:
        return {}
    both = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(both.encode()).decode()}"}
