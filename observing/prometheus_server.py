"""A Prometheus, asked over HTTP: samples of a query on a grid of times.

Nothing is sent but queries, and credentials only to the address that was named: an answer that
leads elsewhere is refused. Sizes and times are bounded, whatever answers
(https://prometheus.io/docs/prometheus/latest/querying/api/).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from math import isfinite
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import msgspec
from msgspec import Struct

from qps.compiler.data.measured_tables import DataError
from qps.compiler.diagnostics.suggest import shortened

MOST_POINTS = 10_000
"""In an answer: a Prometheus refuses more than 11,000 of a series."""
_MOST_VALUES = 5_000_000
_MOST_BYTES = 64_000_000
_PIECE = 1 << 16
_SOCKET_SECONDS = 60.0
_ANSWER_SECONDS = 120.0
_ALL_SECONDS = 900.0
_MOST_TOLD = 300
_UNAUTHORISED = (401, 403)
_NAMED_LABELS = 3

CREDENTIALS = "QPS_PROMETHEUS_TOKEN, or QPS_PROMETHEUS_USER and QPS_PROMETHEUS_PASSWORD"


class Grid(Struct, frozen=True):
    """Times `start`, `start + step`, … in s since 1970: `count` of them."""

    start: float
    step: float
    count: int


class Series(Struct, frozen=True):
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
    error_type: str = ""
    error: str = ""
    warnings: list[str] = []


class Prometheus:
    """A server, by its address. `authorization` is sent to it alone, and shown nowhere."""

    def __init__(self, url: str, authorization: str | None = None) -> None:
        self._address = _checked(url)
        self._authorization = authorization
        self._opener: OpenerDirector = build_opener(_NoRedirect)
        self._end = time.monotonic() + _ALL_SECONDS
        self.warnings: dict[str, None] = {}

    @property
    def host(self) -> str:
        """Who is asked, as messages name it."""
        return self._address.netloc

    @property
    def is_exposed(self) -> bool:
        """Whether credentials would go over a network as they are."""
        here = self._address.hostname in ("localhost", "127.0.0.1", "::1")
        return self._authorization is not None and self._address.scheme == "http" and not here

    def samples(self, query: str, grid: Grid, told: Callable[[], None]) -> list[Series]:
        """Return the series of a query; `told` is called after each answer. DataError otherwise."""
        found: dict[tuple[tuple[str, str], ...], Series] = {}
        for first in range(0, grid.count, MOST_POINTS):
            if time.monotonic() > self._end:
                raise DataError(
                    f"`{self.host}` takes longer than {_ALL_SECONDS / 60:g} minutes in all",
                    "ask for fewer series, or a shorter time by `--since`",
                )
            last = min(first + MOST_POINTS, grid.count) - 1
            for one in self._asked(query, grid, first, last):
                key = tuple(sorted(one.metric.items()))
                if key not in found:
                    if (len(found) + 1) * grid.count > _MOST_VALUES:
                        raise DataError(
                            f"`{shortened(query)}` gives too many series: over {len(found)}",
                            "narrow it by labels, or add them up there: `sum(…)`",
                        )
                    found[key] = Series(one.metric, [None] * grid.count)
                _fill(found[key].values, one.values, grid, self.host)
            told()
        return [found[key] for key in sorted(found)]

    def _asked(self, query: str, grid: Grid, first: int, last: int) -> list[_Found]:
        times = (grid.start + place * grid.step for place in (first, last))
        start, end = (f"{moment:.3f}" for moment in times)
        asked = {"query": query, "start": start, "end": end, "step": f"{grid.step:.3f}"}
        answer = self._answer("/api/v1/query_range", asked, query)
        self.warnings |= dict.fromkeys(w[:_MOST_TOLD] for w in answer.warnings[:10])
        if answer.data is None or answer.data.result_type != "matrix":
            raise self._no_prometheus()
        try:
            return [msgspec.json.decode(raw, type=_Found) for raw in answer.data.result]
        except msgspec.DecodeError as error:
            raise self._no_prometheus() from error

    def _answer(self, path: str, asked: Mapping[str, str], query: str) -> _Answer:
        """Return what is answered; DataError where that is an error."""
        base = self._address._replace(path=self._address.path.rstrip("/") + path)
        request = Request(base._replace(query=urlencode(asked)).geturl())  # noqa: S310 - checked
        request.add_header("Accept", "application/json")
        if self._authorization is not None:
            request.add_unredirected_header("Authorization", self._authorization)
        try:
            with self._opener.open(request, timeout=_SOCKET_SECONDS) as response:
                return self._decoded(self._body(response))
        except HTTPError as error:
            with error:
                raise self._refused(error, query) from None
        except (URLError, HTTPException, OSError) as error:
            reason = getattr(error, "reason", error)
            told = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
            raise DataError(
                f"no answer from `{self.host}`: {told[:_MOST_TOLD]}",
                "name the address that its page has, such as `http://127.0.0.1:9090`",
            ) from None

    def _body(self, response: _Readable) -> bytes:
        """Return a body that is neither too long nor too slow."""
        pieces, size, end = [], 0, time.monotonic() + _ANSWER_SECONDS
        while piece := response.read1(_PIECE):  # what is there: `read` would wait for all of it
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_BYTES:
                raise DataError(f"`{self.host}` answers more than 64 MB", "ask for fewer series")
            if time.monotonic() > end:
                told = f"`{self.host}` takes longer than {_ANSWER_SECONDS:g} s for an answer"
                raise DataError(told, "ask for fewer series, or a shorter time by `--since`")
        return b"".join(pieces)

    def _decoded(self, body: bytes) -> _Answer:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._no_prometheus() from None
        if answer.status not in ("success", "error"):
            raise self._no_prometheus()
        return answer

    def _refused(self, error: HTTPError, query: str) -> DataError:
        """Return what an answer with an error says."""
        if error.code in _UNAUTHORISED:
            return DataError(
                f"`{self.host}` refuses (status {error.code})",
                f"give credentials in the environment: {CREDENTIALS}",
            )
        if error.code in range(300, 400):
            to = urlsplit(error.headers.get("Location") or "").hostname or "another path"
            return DataError(
                f"`{self.host}` sends elsewhere (status {error.code}: {to[:_MOST_TOLD]})",
                "name the address that it leads to",
            )
        try:
            answer = self._decoded(self._body(error))
        except DataError:
            answer = None
        except (HTTPException, OSError):
            answer = None
        if answer is None or answer.status != "error":
            return DataError(
                f"`{self.host}` is no Prometheus, or fails (status {error.code})",
                "name the address of its page, with the path before `/graph` or `/api`",
            )
        return DataError(
            f"Prometheus refuses `{shortened(query)}`: {answer.error[:_MOST_TOLD]}",
            "try it on the page of the server first",
        )

    def _no_prometheus(self) -> DataError:
        return DataError(
            f"`{self.host}` answers, but not as a Prometheus does",
            "name the address of its page, with the path before `/graph` or `/api`",
        )


class _Readable(Protocol):
    """What is read piece by piece."""

    def read1(self, size: int, /) -> bytes:
        """Return what is there, so many bytes at the most."""


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: who is asked is who was named."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Give no further request, so that the answer is an error."""


def _checked(url: str) -> SplitResult:
    """Return an address that may be asked."""
    try:
        address = urlsplit(url)
        has_host, secret = bool(address.hostname), address.password or address.username
        _ = address.port
    except ValueError as error:
        raise DataError("this is no address", "such as `http://127.0.0.1:9090`") from error
    if secret:
        raise DataError(
            "credentials in an address are seen by everybody who lists processes",
            f"give them in the environment: {CREDENTIALS}",
        )
    if address.scheme not in ("http", "https") or not has_host or not url.isprintable():
        raise DataError(
            f"`{shortened(url)}` is no address that begins with `http://` or `https://`",
            "such as `http://127.0.0.1:9090`",
        )
    if address.query or address.fragment or " " in url:
        raise DataError(
            f"`{shortened(url)}` is more than an address",
            "leave out what stands behind the path: `?…`, `#…`",
        )
    return address


def _fill(
    values: list[float | None], found: list[tuple[float, str]], grid: Grid, host: str
) -> None:
    """Put samples in their places; what is no finite number is none."""
    for moment, text in found:
        place = round((moment - grid.start) / grid.step) if isfinite(moment) else -1
        if not 0 <= place < grid.count:
            raise DataError(f"`{host}` answers for other times than were asked", "ask again")
        try:
            value = float(text)
        except ValueError:
            raise DataError(f"`{host}` answers, but not as a Prometheus does") from None
        values[place] = value if isfinite(value) else None
