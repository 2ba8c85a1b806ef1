"""What a further row of a matrix takes here and in another worktree, and whether answers differ.

`further_rows.py SPEC AXIS FEWER MORE [WORKTREE]`: AXIS is a line of a matrix with `#` for how many
values it has, such as "clicks in 0.1..1 request/s, # values". SPEC may be the name of one in
`requested.py`. Prints us of processor, and by how much the numbers of rows differ at most.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from time import process_time

import requested

ROOT = Path(__file__).parents[1]
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
_OWN = "--own"


def _solved(root: Path, spec: str, axis: str, counts: list[int]) -> tuple[float, str]:
    """Return us for a further row in this process, and the rows as text."""
    sys.path.insert(0, str(root / "src"))
    from qps.api import Model  # noqa: PLC0415 - of the worktree that is measured
    from qps.compiler.diagnostics.source import Source  # noqa: PLC0415
    from qps.compiler.pipeline import check_source  # noqa: PLC0415

    path = Path(spec)
    text = path.read_text(encoding="utf-8") if path.exists() else getattr(requested, spec)
    text = re.sub(r"(?ms)^matrix .*?^}\n", "", text)
    took, rows = [], ""
    for count in (2, *counts):
        matrix = "\n".join(["", "matrix m_ {", axis.replace("#", str(count)), "}\n"])
        checked = check_source(Source(path.name, text + matrix, path.parent)).value
        assert checked is not None
        result = Model(checked).matrix("m_")
        start = process_time()
        rows = "\n".join(str(batch.to_pylist()) for batch in result)
        took.append(process_time() - start)
    return (took[2] - took[1]) / (counts[1] - counts[0]) * 1e6, rows


def _time_of_row(root: Path, words: list[str]) -> tuple[float, str]:
    """Return the same of a worktree, measured in a process of its own."""
    command = [sys.executable, __file__, _OWN, str(root), *words]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    us, rows = json.loads(found)
    return us, rows


def main() -> None:
    """Print what was measured, first of the other worktree."""
    words = sys.argv[1:]
    if words[0] == _OWN:
        spec, axis, *counts = words[2:]
        print(json.dumps(_solved(Path(words[1]), spec, axis, list(map(int, counts)))))
        return
    before = [_time_of_row(Path(root), words[:4]) for root in words[4:]]
    us, rows = _time_of_row(ROOT, words[:4])
    print(*(f"before: {one:,.0f} us" for one, _ in before), f"now: {us:,.0f} us", sep="\n")
    own = list(map(float, _NUMBER.findall(rows)))
    for _, others in before:
        numbers = list(map(float, _NUMBER.findall(others)))
        pairs = zip(own, numbers, strict=True)
        off = max(abs(a - b) / max(abs(b), 1e-300) for a, b in pairs)
        print(f"numbers differ by {off:.1g} at most")


if __name__ == "__main__":
    main()
