"""Items that were done: patterns that find their number in a text, and where that text is from."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.measurement.campaigns.child_processes import running
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.measured_tables import number
from qps.http_exchange import ExchangeError, exchange
from qps.supervised_processes import ExitStatus

_LARGEST_PAGE = 4_000_000
_PATIENCE = 10.0
"""Seconds that a page or a command may take to print its counts."""
_OK = 200
_SHOWN = 200
"""Characters of a text in which nothing was found."""
_COUNT = re.compile(r"(?P<item>[A-Za-z_]\w*)=(?P<pattern>.+)", re.DOTALL)


class Count(Struct, frozen=True):
    """An item, and the pattern whose group is the number of those that are done."""

    item: str
    pattern: str


def count_of(text: str, item: str) -> Count:
    """Return what a `--count` says; `item` is counted where it names none.

    MeasuringError where its pattern is none, or has no group.
    """
    named = _COUNT.fullmatch(text)
    count = Count(item, text) if named is None else Count(named["item"], named["pattern"])
    try:
        groups = re.compile(count.pattern).groups
    except re.error as error:
        raise MeasuringError(
            f"`--count '{text}'` is not a valid regular expression: {error}"
        ) from error
    if groups != 1:
        raise MeasuringError(
            f"`--count '{text}'` must have exactly one group, around the number",
            r"write `--count 'requests: (\d+)'`",
        )
    return count


def counted(counts: Sequence[Count], text: str, where: str) -> dict[str, float]:
    """Return how many of each item a text states; MeasuringError where one cannot be found."""
    return {count.item: _found(count, text, where) for count in counts}


def _found(count: Count, text: str, where: str) -> float:
    found = re.findall(count.pattern, text, re.MULTILINE)
    if not found:
        ending = " ".join(text.split())[-_SHOWN:]
        ending_text = f"it ends with `{ending}`" if ending else "it is empty"
        raise MeasuringError(f"`{count.pattern}` is not found in {where}; {ending_text}")
    if len(found) > 1:
        raise MeasuringError(
            f"`{count.pattern}` is found {len(found)} times in {where}, which is ambiguous",
            "match exactly once: include the words around the number",
        )
    value = number(found[0].replace(",", ""))
    if value is None or value < 0:
        raise MeasuringError(
            f"`{count.pattern}` finds `{found[0]}` in {where}, which is not a number"
        )
    return float(value)


def page_or_output(source: str) -> str:
    """Return a status page (`http://…`), or what a command prints; MeasuringError for neither."""
    is_page = source.startswith(("http://", "https://"))
    return _page(source) if is_page else printed(source)[0]


def printed(source: str) -> tuple[str, str]:
    """Return what a command prints, and what it says besides; MeasuringError where it fails."""
    try:
        command = shlex.split(source)
    except ValueError as error:
        raise MeasuringError(f"`{source}` cannot be run: {error}") from error
    if not command:
        raise MeasuringError("an empty command cannot be run")
    with running(command, apart=True) as child:
        ending = child.wait(_PATIENCE)
        if ending is None:
            raise MeasuringError(f"`{source}` takes longer than {_PATIENCE:g} s")
        child.check_size()
        if ending != ExitStatus(0):
            output = " ".join(child.complaints().split())[-_SHOWN:]
            raise MeasuringError(f"`{source}` ended {ending}: {output}")
        return child.output(), child.complaints()


def _page(url: str) -> str:
    try:
        page = exchange(url, seconds=_PATIENCE, most_bytes=_LARGEST_PAGE)
    except ExchangeError as error:
        raise MeasuringError(f"`{url}` cannot be read: {error}") from error
    if page.status != _OK:
        where = f", redirected to {page.location[:_SHOWN]}" if page.location else ""
        raise MeasuringError(f"`{url}` cannot be read: status {page.status}{where}")
    return page.body.decode(errors="replace")
