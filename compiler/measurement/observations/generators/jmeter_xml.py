"""Results of JMeter as XML: samples, and those that hold others.

Documents with a document type are refused, as are entities: nothing is fetched or expanded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from xml.parsers import expat

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.generators.jmeter_samples import JmeterSample

_SAMPLES = frozenset(["sample", "httpSample"])
_MOST_NESTED = 50
_LONGEST_NUMBER = 15
_HINT = "use the file that `jmeter -l run.jtl` writes, unchanged"
_CUT_OFF = frozenset(
    [
        expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
    ]
)
"""Errors at the end of a file that was cut off: JMeter was ended."""


def is_xml(first: str) -> bool:
    """Return whether a first line begins an XML."""
    return first.lstrip("\ufeff \t").startswith("<")


class _Samples:
    """Collects samples from the events of a parser; those with others inside are sums."""

    def __init__(self, file: str) -> None:
        self.found: list[tuple[JmeterSample, bool]] = []
        self.file = file
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self._open: list[tuple[Mapping[str, str], bool] | None] = []

    def _refuse(self, *_: object) -> None:
        raise DataError(
            f"`{shortened(self.file)}`, line {self.parser.CurrentLineNumber}: results of JMeter "
            "have no document type or entities",
            _HINT,
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _MOST_NESTED:
            raise DataError(
                f"`{shortened(self.file)}`, line {self.parser.CurrentLineNumber}: elements are "
                f"nested more than {_MOST_NESTED} deep",
                _HINT,
            )
        if name not in _SAMPLES:
            self._open.append(None)
            return
        for place in range(len(self._open) - 1, -1, -1):
            outer = self._open[place]
            if outer is not None:
                self._open[place] = (outer[0], True)
                break
        self._open.append((attributes, False))

    def _end(self, _: str) -> None:
        closed = self._open.pop()
        if closed is None:
            return
        attributes, has_parts = closed
        sample = _sample(attributes)
        if sample is None:
            raise DataError(
                f"`{shortened(self.file)}`, line {self.parser.CurrentLineNumber}: a sample without "
                "`ts` and `t`",
                "save results with times: `-Jjmeter.save.saveservice.time=true "
                "-Jjmeter.save.saveservice.timestamp_format=ms`",
            )
        self.found.append((sample, has_parts))


def xml_samples(lines: Iterable[str], file: str) -> Iterator[tuple[JmeterSample, bool]]:
    """Yield each sample, and whether it holds others, as they end; DataError where none is there.

    A file that was cut off ends with its last whole sample.
    """
    samples = _Samples(file)
    try:
        for line in lines:
            samples.parser.Parse(line, False)  # noqa: FBT003
            yield from samples.found
            samples.found.clear()
    except expat.ExpatError as error:
        raise DataError(f"`{shortened(file)}`, {error}", _HINT) from error
    try:
        samples.parser.Parse("", True)  # noqa: FBT003
    except expat.ExpatError as error:
        if error.code not in _CUT_OFF:
            raise DataError(f"`{shortened(file)}`, {error}", _HINT) from error


def _sample(found: Mapping[str, str]) -> JmeterSample | None:
    numbers = {name: _number(found.get(name)) for name in ("ts", "t", "by", "na")}
    start, elapsed = numbers["ts"], numbers["t"]
    if start is None or elapsed is None:
        return None
    return JmeterSample(
        start=start,
        elapsed=elapsed,
        octets=numbers["by"],
        is_success=found.get("s", "true") == "true",
        threads=numbers["na"] or 0,
        thread=found.get("tn", ""),
        label=found.get("lb", ""),
        message=found.get("rm", ""),
        url="",
        kind=found.get("dt", ""),
    )


def _number(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        return None
    return int(text)
