"""Access logs of nginx and Apache, a line for each request: what a server has answered.

Addresses, paths and names of users are not read, and so never in a table. Lines have times in whole
seconds; nginx writes how long a request took where its format ends with `$request_time`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, LoadRun
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretches

_LINE = re.compile(
    r"\S{1,200} \S{1,200} [^\[]{0,200}\[(?P<time>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"(?:[^"\\]|\\.){0,65536}" (?P<status>\d{3}) (?P<bytes>\d{1,15}|-)(?P<rest>.*)'
)
_REQUEST_TIME = re.compile(r".*[\" ](\d{1,7}\.\d{3})\s*")
_FIRST_WRONG = 400
_MOST_WRONG = 0.01
"""Share of lines that may be no requests, as what a server cannot parse is logged, too."""
_FEWEST = 100
_HINT = (
    "use the format `combined`, with the time that a request takes at its end: "
    '`log_format timed \'$remote_addr - $remote_user [$time_local] "$request" $status '
    '$body_bytes_sent "$http_referer" "$http_user_agent" $request_time\';`'
)


def access_log_runs(
    files: Sequence[Iterable[str]], file: str, window: float | None
) -> tuple[list[LoadRun], list[str]]:
    """Return what was answered in each whole stretch of `window` s, else in all of the log."""
    found = Stretches(
        file,
        window,
        {
            ITEMS: "the number of lines",
            "byte/s": "the size of responses",
            "share failed": "statuses of 400 and above",
            "latency": "the last field",
        },
    )
    found.has_bytes, found.grain = True, 1000.0
    wrong, first_wrong, timed, count = 0, 0, 0, 0
    moments: dict[str, float] = {}
    for lines in files:
        for number, line in enumerate(lines, start=1):
            count += 1
            if count > MOST_SAMPLES:
                raise DataError(
                    f"`{shortened(file)}` has more than {MOST_SAMPLES:,} lines", "split it"
                )
            parts = _LINE.match(line)
            moment = None if parts is None else _moment(parts["time"], moments)
            if parts is None or moment is None:
                wrong, first_wrong = wrong + bool(line.strip()), first_wrong or number
                continue
            stretch = found.at(moment)
            stretch.received += 0 if parts["bytes"] == "-" else int(parts["bytes"])
            stretch.failed += int(parts["status"]) >= _FIRST_WRONG
            took = _REQUEST_TIME.fullmatch(parts["rest"])
            if took is None:
                stretch.untimed += 1
            else:
                timed += 1
                stretch.elapsed.append(1000 * float(took[1]))
    if wrong > max(1, _MOST_WRONG * count):
        raise DataError(
            f"`{shortened(file)}`, line {first_wrong}: not a line of an access log, as are "
            f"{wrong:,} of {count:,} lines",
            _HINT,
        )
    runs, notes = found.runs(_HINT)
    if wrong:
        notes.append(
            f"warning: `{shortened(file)}`: {wrong:,} line{'s' * (wrong > 1)}, such as line "
            f"{first_wrong}, without a request {'are' if wrong > 1 else 'is'} left out"
        )
    if not timed:
        notes.append(f"warning: `{shortened(file)}` has no latencies; {_HINT}")
    return runs, notes


def _moment(text: str, known: dict[str, float]) -> float | None:
    """Return a moment in ms since 1970; many lines have the same."""
    if text not in known:
        try:
            at = datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z")
        except ValueError:
            return None
        if len(known) > _FEWEST:
            known.clear()
        known[text] = 1000 * at.timestamp()
    return known[text]
