"""How every number is known: all labels of some specs, and what changes of them.

    python tests/helpers/labels.py dump LABELS.jsonl specs tests/networks tests/requests
    python tests/helpers/labels.py compare BEFORE.jsonl AFTER.jsonl

`dump` lowers each spec of the files and folders, in each of its scenarios, and with `--generated
500` so many generated ones besides. It writes a line for each number: the spec, the quantity, the
populations at which it is known in that way, the kind of the label, its error, its reasons. Those
are the lowest and the highest population, and one between them; nothing is solved.

`compare` prints what differs, exact labels first, and ends with status 1 if anything does. With
`--kinds` labels are left out of which nothing but the reasons differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from helpers.golden_specs import generated  # noqa: E402 - found above
from qps.compiler import ir  # noqa: E402
from qps.compiler.diagnostics.diagnostic import QpsError  # noqa: E402
from qps.compiler.diagnostics.source import Source  # noqa: E402
from qps.compiler.ir.measure_names import utilization_of  # noqa: E402
from qps.compiler.lower.load_graph import LoadGraph  # noqa: E402
from qps.compiler.lower.lowering import lower  # noqa: E402
from qps.compiler.lower.requirements.lower_measures import Measures  # noqa: E402
from qps.compiler.lower.requirements.serial_losses import (  # noqa: E402
    in_series_at,
    known_at,
    quality_known_at,
)
from qps.compiler.pipeline import Spec, check_file, check_source  # noqa: E402
from qps.compiler.quantities.certainty import Certainty, CertaintyKind  # noqa: E402

LEVELS = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))
_OF_STREAMS = (
    ir.MeasureKind.LATENCY,
    ir.MeasureKind.JITTER,
    ir.MeasureKind.BUFFER,
    ir.MeasureKind.LOSS,
    ir.MeasureKind.RATE,
    ir.MeasureKind.THROUGHPUT,
)

Label: TypeAlias = dict[str, object]
Key: TypeAlias = tuple[str, str, str]


def labels_of(spec: Spec, name: str) -> Iterator[Label]:
    """Yield the labels of a spec, in each of its scenarios."""
    if spec.program.is_module:
        return
    for scenario in (None, *(one.name for one in spec.model.scenarios)):
        called = name if scenario is None else f"{name} --scenario {scenario}"
        try:
            graph = lower(spec.model, spec.configuration(scenario))
        except QpsError as error:
            reason = error.diagnostics[0].message
            yield {"spec": called, "quantity": "", "at": [], "kind": "refused", "reasons": [reason]}
            continue
        found: dict[tuple[str, Certainty], list[int]] = {}
        between = isqrt(graph.low * graph.high)
        for at in sorted({graph.low, between, graph.high}):
            for quantity, known in labels_at(graph, at):
                found.setdefault((quantity, known), []).append(at)
        for (quantity, known), populations in found.items():
            yield {
                "spec": called,
                "quantity": quantity,
                "at": populations,
                "kind": known.kind.value,
                "error": known.error,
                "reasons": list(known.reasons),
            }


def labels_at(graph: LoadGraph, at: int) -> Iterator[tuple[str, Certainty]]:
    """Yield all that a graph tells a value of, with how it is known at a population."""
    measures = Measures.of_graph(graph, in_series_at(graph, at))
    for name in graph.streams:
        for kind in _OF_STREAMS:
            yield f"{name}.{kind.value}", measures.known(ir.Measured(kind=kind, subject=name))
        for level in LEVELS:
            measured = ir.Measured(kind=ir.MeasureKind.QUANTILE, subject=name, level=level)
            yield f"{name}.p{float(100 * level):g}", measures.known(measured)
    for name, resource in graph.resources.items():
        yield utilization_of(name), resource.known
    for criterion in graph.criteria:
        yield f"require {criterion.name}", known_at(graph, criterion, at)
    for measure in graph.measures.values():
        yield f"measure {measure.name}", known_at(graph, measure, at)
    for elastic in graph.elastic:
        yield f"elastic {elastic.parameter.name}", elastic.known
    if graph.quality is not None:
        yield "quality", quality_known_at(graph, at)


def _specs(paths: Iterable[Path], count: int) -> Iterator[tuple[str, Spec | None]]:
    for path in paths:
        for file in sorted(path.rglob("*.qps")) if path.is_dir() else [path]:
            name = str(file.relative_to(path.parent) if path.is_dir() else file.name)
            yield name, check_file(file).value
    for index, text in enumerate(generated(count) if count else ()):
        name = f"generated/{index:03}.qps"
        yield name, check_source(Source(name, text)).value


def dump(file: Path, paths: Sequence[Path], count: int) -> int:
    """Write all labels."""
    counts: Counter[str] = Counter()
    with file.open("w", encoding="utf-8") as lines:
        for name, spec in _specs(paths, count):
            for one in labels_of(spec, name) if spec is not None else ():
                counts[str(one["kind"])] += 1
                print(json.dumps(one), file=lines)
    print(", ".join(f"{often:,} {kind}" for kind, often in counts.most_common()))
    return 0


def read(file: Path) -> dict[Key, Label]:
    """Return labels by spec, quantity and populations."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        for at in one["at"] or [""]:
            found[one["spec"], one["quantity"], str(at)] = one
    return found


def compare(before: Mapping[Key, Label], after: Mapping[Key, Label], *, kinds: bool) -> int:
    """Print what differs; return 1 if anything does."""
    differs: dict[tuple[str, str, str, str], tuple[bool, list[str]]] = {}
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if _reported(old, kinds=kinds) == _reported(new, kinds=kinds):
            continue
        was_exact = old is not None and old["kind"] == CertaintyKind.EXACT.value
        spec, quantity, at = key
        same = spec, quantity, _written(old), _written(new)
        differs.setdefault(same, (was_exact, []))[1].append(at)
    for (spec, quantity, old_text, new_text), (_, populations) in sorted(
        differs.items(), key=lambda one: (not one[1][0], one[0])
    ):
        print(f"{spec}: {quantity} at {', '.join(populations)}\n  {old_text}\n  {new_text}")
    exact = sum(one["kind"] == CertaintyKind.EXACT.value for one in before.values())
    lost = sum(len(at) for was_exact, at in differs.values() if was_exact)
    print(
        f"{sum(len(at) for _, at in differs.values()):,} of {len(before):,} labels differ, "
        f"{lost:,} of {exact:,} that were exact"
    )
    return 1 if differs else 0


def _reported(label: Label | None, *, kinds: bool) -> object:
    if label is None:
        return None
    return label["kind"], label.get("error"), None if kinds else label["reasons"]


def _written(label: Label | None) -> str:
    if label is None:
        return "-"
    error = label.get("error")
    off = "" if error is None else f" within {error}"
    return f"{label['kind']}{off}: {'; '.join(map(str, label['reasons']))}"  # type: ignore[arg-type, call-overload]


def main() -> int:
    """Dump or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    dumping = verbs.add_parser("dump", help="write all labels of some specs")
    dumping.add_argument("file", metavar="LABELS", type=Path)
    dumping.add_argument("paths", metavar="SPEC", type=Path, nargs="*")
    dumping.add_argument("--generated", metavar="COUNT", type=int, default=0)
    comparing = verbs.add_parser("compare", help="print what differs")
    comparing.add_argument("before", metavar="BEFORE", type=Path)
    comparing.add_argument("after", metavar="AFTER", type=Path)
    comparing.add_argument("--kinds", action="store_true", help="not where only reasons differ")
    arguments = parser.parse_args()
    if arguments.verb == "dump":
        return dump(arguments.file, arguments.paths, arguments.generated)
    return compare(read(arguments.before), read(arguments.after), kinds=arguments.kinds)


if __name__ == "__main__":
    sys.exit(main())
