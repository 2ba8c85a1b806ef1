"""Inputs: a few files, and what is asked of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from msgspec import Struct

from fuzz.corpus import ROOT, captures, drawn, tables, texts
from fuzz.mutations import changed, changed_bytes, changed_table
from helpers.specs import PRELUDE
from qps.compiler.measurement.observations.measurement_sources import SOURCES

_REST = "topology { node host = box }\nstream flow { traffic 1 packet/s; at host { work } }\n"
_LAID_OUT = 0.1
_TABLE = re.compile(r'"([^"\n/\\]{1,60}\.csv)"')
_USES = (
    'use "a.qps"', 'use "b.qps" as b', 'use "a.qps" as a with N = 3', 'use "main.qps"',
    'use "../a.qps"', 'use "/etc/passwd"', 'use "a.csv"', "use std.nothing as n", "use std.net",
    'use "c/d.qps" as d',
    'use "a.qps" as x for each film', "use std.hardware as a",
)  # fmt: skip
_TRACES = (
    "--period 20ms", "--unit ms", "--latency 10ms", "--gaps 1%", "--buffer 0ms", "--format json",
)  # fmt: skip


class Input(Struct, frozen=True, kw_only=True):
    """Files by their names, and the command that reads them; without one main.qps is checked.

    Where its kind is `layout` it is laid out, too.
    """

    kind: str
    files: dict[str, bytes]
    command: tuple[str, ...] = ()


def made(draw: random.Random) -> Input:
    """Return an input that has not been seen before."""
    [make] = draw.choices(list(_KINDS), weights=list(_KINDS.values()))
    return make(draw)


def _text(draw: random.Random) -> Input:
    chosen = draw.random()
    if chosen < 0.35:
        text = PRELUDE + changed(draw, drawn(draw, most=3)) + "\n" + _REST
    elif chosen < 0.6:
        text = PRELUDE + changed(draw, _REST)
    elif chosen < 0.75:
        text = changed(draw, drawn(draw))
    else:
        text = changed(draw, draw.choice(texts()))
    kind = "layout" if draw.random() < _LAID_OUT else "text"
    return Input(kind=kind, files=_written({"main.qps": text}))


def _answer(draw: random.Random) -> Input:
    text = changed(draw, draw.choice([text for text in texts() if len(text) < 1_500]))
    command = draw.choice(["solve -q --no-advice", "solve --format json --no-advice", "test"])
    return Input(
        kind="answer", files=_written({"main.qps": text}), command=(*command.split(), "main.qps")
    )


def _modules(draw: random.Random) -> Input:
    files = {"main.qps": _REST, "a.qps": PRELUDE, "b.qps": "", "c/d.qps": ""}
    for name, end in files.items():
        text = drawn(draw, least=0, most=4) if name != "main.qps" else draw.choice([PRELUDE, ""])
        uses = "\n".join(draw.choices(_USES, k=draw.randint(0, 3)))
        files[name] = changed(draw, f"{uses}\n{text}\n{end}")
    return Input(kind="modules", files=_written(files), command=("check", "main.qps"))


def _matrix(draw: random.Random) -> Input:
    blocks = [text for text in texts() if re.search(r"^matrix ", text, re.MULTILINE)]
    text = changed(draw, draw.choice([text for text in blocks if len(text) < 3_000]))
    command = ("matrix", "-q", "--most", "200", "main.qps", "-o", "rows.csv")
    return Input(kind="matrix", files=_written({"main.qps": text}), command=command)


@cache
def _reading() -> tuple[str, ...]:
    return tuple(text for text in texts() if _TABLE.search(text))


def _table(draw: random.Random) -> Input:
    text = draw.choice(_reading())
    if draw.random() < 0.3:
        text = changed(draw, text)
    files = {"main.qps": text}
    for name in _TABLE.findall(text):
        if not name.isprintable():
            continue  # half a character: no file is called so
        known = [ROOT / "tests" / "errors" / name, *(ROOT / "specs").rglob(name)]
        at_hand = [path.read_text(encoding="utf-8") for path in known if path.is_file()]
        table = at_hand[0] if at_hand and draw.random() < 0.8 else draw.choice(tables())
        files[name] = changed_table(draw, table)
    return Input(kind="table", files=_written(files), command=("check", "main.qps"))


def _trace(draw: random.Random) -> Input:
    data = _encoded(changed_table(draw, draw.choice(tables())))
    options = " ".join(draw.sample(_TRACES, k=draw.randint(0, 3))).split()
    return Input(kind="trace", files={"t.csv": data}, command=("trace", *options, "t.csv"))


def _observed(draw: random.Random) -> Input:
    source = draw.choice(sorted(SOURCES))
    path = draw.choice(sorted((ROOT / "tests" / "observed").glob(f"{source}*")))
    data = path.read_bytes()
    name = f"seen{path.suffix}"
    if source == "pcap":
        files = {name: changed_bytes(draw, draw.choice(captures()))}
    else:
        files = {name: _encoded(changed_table(draw, data.decode(errors="replace")))}
    return Input(kind="observed", files=files, command=("observe", source, name, "-o", "runs.csv"))


def _written(files: dict[str, str]) -> dict[str, bytes]:
    return {name: _encoded(text) for name, text in files.items()}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


_KINDS: dict[Callable[[random.Random], Input], float] = {
    _text: 95, _answer: 0.5, _modules: 2, _matrix: 0.2, _table: 1, _trace: 1, _observed: 1,
}  # fmt: skip
"""How often each kind is tried: texts are read a hundred times faster than solved."""


def write(given: Input, folder: Path) -> None:
    """Write the files of an input below a folder."""
    for name, data in given.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
