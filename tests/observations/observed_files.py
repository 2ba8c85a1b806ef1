"""Files of tools themselves, and the table that `qps observe` makes of them."""

from __future__ import annotations

import csv
from pathlib import Path

from qps.cli import main

FILES = Path(__file__).parents[1] / "observed"


def observed(source: str, *arguments: object, folder: Path) -> list[dict[str, str]]:
    out = folder / "out.csv"
    assert main(["observe", source, *map(str, arguments), "-q", "-o", str(out)]) == 0
    return list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
