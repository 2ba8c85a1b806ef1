"""A client of Prometheus over HTTP: samples of a query on a grid of times.

Nothing is sent but queries, and credentials only to the address that was named: an answer that
leads elsewhere is refused. Sizes and times are bounded, whatever answers (`http_exchange.py`;
https://prometheus.io/docs/prometheus/latest/querying/api/).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from math import isfinite
from urllib.parse import SplitResult, urlencode, urlsplit

import msgspec
from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.http_exchange import (
    ExchangeError,
    Response,
    ResponseTooLargeError,
    TooSlowError,
    exchange,
    is_here,
)

MOST_POINTS = 10_000
"""In an answer: a Prometheus refuses more than 11,000 of a series."""
_MOST_VALUES = 5_000_000
_MOST_BYTES = 64_000_000
_ANSWER_SECONDS = 120.0
_ALL_SECONDS = 900.0
_LONGEST_MESSAGE = 300
_OK = 200
_UNAUTHORIZED = (401, 403)

CREDENTIALS = "QPS_PROMETHEUS_TOKEN, or QPS_PROMETHEUS_USER and QPS_PROMETHEUS_PASSWORD"


class Grid(Struct, frozen=True):
    """Times `start`, `start + step`, … in s since 1970: `count` of them."""

    start: float
    step: float
    count: int


class SampledSeries(Struct, frozen=True):
    """The samples of a series at the times of a grid, None where there is none."""

    labels: Mapping[str, str]
    values: list[float | None]

    @property
    def text(self) -> str:
        """How the series is written: `{instance="a:80", job="web"}`."""
        name = self.labels.get("__name__", "")
        rest = [f'{k}="{v}"' for k, v in sorted(self.labels.items()) if k != "__name__"]
        return shortened(name + "{" + ", ".join(rest) + "}")


class _Found(Struct):
    metric: dict[str, str] = {}
    values: list[tuple[float, str]] = []


class _Data(Struct, rename="camel"):
    result_type: str = ""
    result: list[msgspec.Raw] = []


class _Answer(Struct, rename="camel", kw_only=True):
    status: str
    data: _Data | None = None
    error: str = ""
    warnings: list[str] = []


class Prometheus:
    """A server, by its address. `authorization` is sent to it alone, and shown nowhere.

    `proxy` is the address of a proxy; of `http://`, that one reads all that is sent.
    """

    def __init__(
        self, url: str, authorization: str | None = None, proxy: str | None = None
    ) -> None:
        self._address = _checked(url)
        self._proxy = None if proxy is None else _checked(proxy, "http://127.0.0.1:3128")
        if self._proxy is not None and self._proxy.scheme != "http":
            raise DataError(
                "the proxy must be an `http://` address", "write `http://127.0.0.1:3128`"
            )
        self._authorization = authorization
        self._end = time.monotonic() + _ALL_SECONDS
        self.warnings: dict[str, None] = {}

    @property
    def host(self) -> str:
        """The server, as messages name it."""
        return self._address.netloc

    @property
    def is_exposed(self) -> bool:
        """Whether credentials would go over a network as they are."""
        to = self._address if self._proxy is None else self._proxy
        is_plain = self._address.scheme == "http" and not is_here(to.hostname)
        return self._authorization is not None and is_plain

    def samples(self, query: str, grid: Grid, on_answer: Callable[[], None]) -> list[SampledSeries]:
        """Return the series of a query; `on_answer` is called after each answer. Else DataError."""
        found: dict[tuple[tuple[str, str], ...], SampledSeries] = {}
        for first in range(0, grid.count, MOST_POINTS):
            last = min(first + MOST_POINTS, grid.count) - 1
            for one in self._query(query, grid, first, last):
                key = tuple(sorted(one.metric.items()))
                if key not in found:
                    if (len(found) + 1) * grid.count > _MOST_VALUES:
                        raise DataError(
                            f"`{shortened(query)}` returns more than {len(found)} series",
                            "select fewer by labels, or sum them in the query: `sum(…)`",
                        )
                    found[key] = SampledSeries(one.metric, [None] * grid.count)
                _fill(found[key].values, one.values, grid, self.host)
            on_answer()
        return [found[key] for key in sorted(found)]

    def _query(self, query: str, grid: Grid, first: int, last: int) -> list[_Found]:
        times = (grid.start + place * grid.step for place in (first, last))
        start, end = (f"{moment:.3f}" for moment in times)
        parameters = {"query": query, "start": start, "end": end, "step": f"{grid.step:.3f}"}
        answer = self._answer("/api/v1/query_range", parameters, query)
        self.warnings |= dict.fromkeys(w[:_LONGEST_MESSAGE] for w in answer.warnings[:10])
        if answer.data is None or answer.data.result_type != "matrix":
            raise self._no_prometheus()
        try:
            return [msgspec.json.decode(raw, type=_Found) for raw in answer.data.result]
        except msgspec.DecodeError as error:
            raise self._no_prometheus() from error

    def _answer(self, path: str, parameters: Mapping[str, str], query: str) -> _Answer:
        """Return what is answered; DataError where that is an error."""
        path = self._address.path.rstrip("/") + path
        left = self._end - time.monotonic()
        secret = self._authorization
        try:
            response = exchange(
                self._address._replace(path=path, query=urlencode(parameters)).geturl(),
                seconds=min(_ANSWER_SECONDS, left),
                most_bytes=_MOST_BYTES,
                headers={"Accept": "application/json"}
                | ({} if secret is None else {"Authorization": secret}),
                proxy=None if self._proxy is None else self._proxy.geturl(),
            )
        except TooSlowError:
            for_what = f"{_ANSWER_SECONDS:g} s for one response"
            in_all = f"{_ALL_SECONDS / 60:g} minutes in total"
            raise DataError(
                f"`{self.host}` takes longer than {in_all if left < _ANSWER_SECONDS else for_what}",
                "query fewer series, or use a shorter `--since`",
            ) from None
        except ResponseTooLargeError:
            most = _MOST_BYTES // 10**6
            message = f"`{self.host}` sent a response of more than {most} MB"
            raise DataError(message, "query fewer series") from None
        except ExchangeError as error:
            raise DataError(
                f"no response from `{self.host}`: {error}",
                "use the address of its web interface, such as `http://127.0.0.1:9090`",
            ) from None
        if response.status != _OK:
            raise self._refused(response, query)
        return self._decoded(response.body)

    def _decoded(self, body: bytes) -> _Answer:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._no_prometheus() from None
        if answer.status not in ("success", "error"):
            raise self._no_prometheus()
        return answer

    def _refused(self, response: Response, query: str) -> DataError:
        """Return what an answer with an error says."""
        if response.status in _UNAUTHORIZED:
            return DataError(
                f"`{self.host}` denies access (status {response.status})",
                f"set credentials in the environment: {CREDENTIALS}",
            )
        if response.status in range(300, 400):
            return DataError(
                f"`{self.host}` redirects (status {response.status}: {_host_of(response)})",
                "use the target address",
            )
        try:
            answer = self._decoded(response.body)
        except DataError:
            answer = None
        if answer is None or answer.status != "error":
            return DataError(
                f"`{self.host}` is not a Prometheus server, or it fails (status {response.status})",
                "use the address of its web interface, up to the path before `/graph` or `/api`",
            )
        return DataError(
            f"Prometheus rejects `{shortened(query)}`: {answer.error[:_LONGEST_MESSAGE]}",
            "try it in the web interface of the server first",
        )

    def _no_prometheus(self) -> DataError:
        return DataError(
            f"`{self.host}` does not respond like a Prometheus",
            "use the address of its web interface, up to the path before `/graph` or `/api`",
        )


def _host_of(response: Response) -> str:
    """Return to which host an answer sends, for a message: the rest of it may be secret."""
    try:
        return (urlsplit(response.location).hostname or "another path")[:_LONGEST_MESSAGE]
    except ValueError:
        return "an invalid address"


def _checked(url: str, such_as: str = "http://127.0.0.1:9090") -> SplitResult:
    """Return a valid address."""
    try:
        address = urlsplit(url)
        has_host, secret = bool(address.hostname), address.password or address.username
        _ = address.port
    except ValueError as error:
        raise DataError("this is not a valid address", f"write `{such_as}`") from error
    if secret:
        raise DataError(
            "credentials in an address are visible in the process list",
            f"set them in the environment: {CREDENTIALS}",
        )
    if address.scheme not in ("http", "https") or not has_host or not url.isprintable():
        raise DataError(
            f"`{shortened(url)}` is not an `http://` or `https://` address",
            f"write `{such_as}`",
        )
    if address.query or address.fragment or " " in url:
        raise DataError(
            f"`{shortened(url)}` has more than a path",
            "remove the query and the fragment: `?…`, `#…`",
        )
    return address


def _fill(
    values: list[float | None], found: list[tuple[float, str]], grid: Grid, host: str
) -> None:
    """Put samples in their places; what is no finite number is none."""
    for moment, text in found:
        place = round((moment - grid.start) / grid.step) if isfinite(moment) else -1
        if not 0 <= place < grid.count:
            raise DataError(f"`{host}` returned times that were not requested", "try again")
        try:
            value = float(text)
        except ValueError:
            raise DataError(f"`{host}` does not respond like a Prometheus") from None
        values[place] = value if isfinite(value) else None
