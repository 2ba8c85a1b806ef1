"""The specs whose answers are kept, and what is asked of them: see `goldens.py`."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from helpers.golden_answers import Answer, Json
from helpers.strategies import Drawn, drawn_specs
from qps.compiler import ir
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_file, check_source
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse

ROOT = Path(__file__).resolve().parents[2]
GENERATED = 500
MOST_ROWS = 2000
_AXES = "_axes"
_TOGETHER = 3  # axes of a matrix
_OFFERED = 3  # machines or networks of a place
_FASTER = 100
_DISCIPLINES = (("1 core", "mm1"), ("1 core", "md1"), ("1 core", "mg1 cv 1.2"), ("2 core", "mmc"))
_NEAR = Fraction(1, 10)  # of a number, to each side
_SHARES = tuple(map(Fraction, ("0.5", "0.75", "1")))  # of a number that has no range


def gather(texts: Path, cases: Sequence[Path]) -> None:
    """Put all texts into a folder, whole or not at all."""
    if texts.exists():
        return
    made = texts.with_name("texts.part")
    shutil.rmtree(made, ignore_errors=True)
    for folder in (ROOT / "specs", ROOT / "stdlib", *cases):
        shutil.copytree(folder, made / folder.name, ignore=shutil.ignore_patterns("__*", "*.md"))
    for path in sorted(made.rglob("*.qps")):
        if (text := with_axes(path)) is not None:
            path.with_name(f"{path.stem}{_AXES}.qps").write_text(text, encoding="utf-8")
    (made / "generated").mkdir()
    for index, text in enumerate(generated(GENERATED)):
        (made / "generated" / f"{index:03}.qps").write_text(text, encoding="utf-8")
    made.rename(texts)


def generated(count: int) -> list[str]:
    """Return so many different texts of those that the laws are tried on, always the same.

    Most of those carry nobody: two of three stand here on faster machines and networks, and every
    third has a queue with a limit on its quantile besides.
    """
    found: dict[str, Drawn] = {}

    @seed(14)
    @settings(
        max_examples=2 * count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn_specs())
    def draw(spec: Drawn) -> None:
        found[spec.text] = spec

    draw()
    drawn = list(found.values())[:count]
    return [(_as_drawn, _faster, _queued)[i % 3](spec, i // 3) for i, spec in enumerate(drawn)]


def _as_drawn(spec: Drawn, _: int) -> str:
    return spec.text


def _faster(spec: Drawn, _: int) -> str:
    return replace(spec, rating=spec.rating * _FASTER, rate=spec.rate * _FASTER).text


def _queued(spec: Drawn, turn: int) -> str:
    limit = f"require {{ quantile(flow.latency, 95 %) <= {2 * spec.latency} ms }}"
    discipline = _DISCIPLINES[turn % len(_DISCIPLINES)]
    cores = re.compile(r"machine fast { cpu 2 core (.*?) }")
    text = _faster(replace(spec, extra=limit), turn)
    return cores.sub(rf"machine fast {{ cpu {discipline[0]} \1, queueing {discipline[1]} }}", text)


# -- matrices over all that may vary -------------------------------------------------------


def with_axes(path: Path) -> str | None:
    """Return a spec with matrices over all that may vary in it; None where nothing may."""
    spec = check_file(path).value
    if spec is None or spec.program.is_module:
        return None
    axes = [*number_axes(spec.model, path.read_text(encoding="utf-8")), *choice_axes(spec.model)]
    text = without_matrices(path)
    refused = _refused(Source(path.name, f"{text}\n{_matrix(0, axes)}", path.parent))
    axes = [axis for axis in axes if axis not in refused]
    count = -(-len(axes) // _TOGETHER)
    matrices = "".join(_matrix(i, axes[i::count]) for i in range(count))
    return f"{text}\n{matrices}" if axes else None


def without_matrices(path: Path) -> str:
    """Return a spec without its matrices, and without claims, some of which are about them."""
    text = path.read_text(encoding="utf-8")
    module = parse(Source(path.name, text)).value
    for item in reversed(() if module is None else module.declarations):
        if isinstance(item, ast.Matrix | ast.Expect):
            text = text[: item.span.start] + text[item.span.end :]
    return text


def _refused(source: Source) -> set[str]:
    """Return the lines at which there are mistakes."""
    found = check_source(source).diagnostics
    return {source.line(one.primary.span.line) for one in found if one.is_error and one.primary}


def _matrix(index: int, axes: Sequence[str]) -> str:
    return "\n".join([f"matrix all{_AXES}_{index} {{", *axes, "}\n"])


def number_axes(model: ir.Model, text: str) -> Iterator[str]:
    """Yield the numbers of a model that may vary, each with some values, as lines of a matrix."""
    for parameter in model.parameters:
        values = _values(parameter)
        if len(values) > 1:
            yield f"  {parameter.name} in [{', '.join(values)} {_unit(parameter, text)}]"


def choice_axes(model: ir.Model) -> Iterator[str]:
    """Yield what else may vary in a model, with its choices, as lines of a matrix."""
    for option in model.options:
        yield _axis(option.name, option.choices)
    for node in model.nodes:
        yield _axis(node.name, _machines(model, node)[:_OFFERED])
    for link in model.links:
        yield _axis(link.name, list(model.networks)[:_OFFERED])
    if model.scenarios:
        yield _axis("scenario", [scenario.name for scenario in model.scenarios])
    if model.modes:
        yield _axis("mode", [mode.name for mode in model.modes])


def even_axis(parameter: ir.Parameter, text: str, count: int) -> str | None:
    """Return a line of a matrix with so many values near that of a parameter, or with fewer.

    Those of what is counted stay whole. None where there is nothing to vary.
    """
    own, low, high = _numbers(parameter)
    if parameter.is_elastic or not own:
        return None
    if own.denominator == 1 and own > 1 and not str(parameter.dimension):
        first = own if low is None else low
        last = first + count - 1 if high is None else min(first + count - 1, high)
        count = int(last - first) + 1
    else:
        ends = sorted((own * (1 - _NEAR), own * (1 + _NEAR)))
        first = ends[0] if low is None else max(low, ends[0])
        last = ends[1] if high is None else min(high, ends[1])
    if first >= last:
        return None
    reported_ends = f"{float(first):.12g}..{float(last):.12g} {_unit(parameter, text)}"
    return f"  {parameter.name} in {reported_ends}, {count} values"


def _axis(name: str, choices: Sequence[str]) -> str:
    return f"  {name} in [{', '.join(choices)}]"


def _machines(model: ir.Model, node: ir.Node) -> list[str]:
    """Return the machines that have all that the one of a node has."""
    needed = {resource.name for resource in model.machines[node.machine].resources}
    found = model.machines.items()
    return [name for name, one in found if needed <= {resource.name for resource in one.resources}]


def _unit(parameter: ir.Parameter, text: str) -> str:
    """Return the unit of a parameter, units of imported modules by the names that they have."""

    def qualified(unit: re.Match[str]) -> str:
        found = re.search(rf"\b\w+\.{unit[0]}\b", text)
        return found[0] if found else unit[0]

    return re.sub(r"[A-Za-z]\w\w+", qualified, str(parameter.dimension))


def _values(parameter: ir.Parameter) -> list[str]:
    """Return the ends of a parameter's range and its value; without a range, some near it."""
    own, low, high = _numbers(parameter)
    found = [value for value in (low, own, high) if value is not None]
    if own is not None and len(found) == 1:
        is_count = own.denominator == 1
        found = [own, own + 1] if is_count else [own * share for share in _SHARES]
    return list(dict.fromkeys(f"{float(value):.12g}" for value in found))


def _numbers(parameter: ir.Parameter) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return a parameter's value and the ends of its range, where they are numbers."""
    value, low, high = (
        expr.value if isinstance(expr, ir.Constant) else None
        for expr in (parameter.value, parameter.low, parameter.high)
    )
    return value, low, high


# -- the commands --------------------------------------------------------------------------


def commands(texts: Path) -> Iterator[str]:
    """Yield what is asked of all texts, but explanations."""
    for path in sorted(texts.rglob("*.qps"), reverse=True):  # the slow ones of `cases/` last
        file = str(path.relative_to(texts))
        if file.startswith("generated"):
            yield _command("solve", file)
            continue
        spec = check_file(path).value
        model = None if spec is None else spec.model
        if path.stem.endswith(_AXES):
            yield _command("check", file)
            yield from _matrices(file, model)
            continue
        for verb in ("check", "test", "solve"):
            yield _command(verb, file)
        if model is not None:
            yield shlex.join(["report", file, "--no-advice", "-q"])
            for scenario in model.scenarios:
                yield _command("solve", file, "--scenario", scenario.name)
            for figure in model.figures:
                yield _command("explain", file, figure.name)
            yield from _matrices(file, model)


def _matrices(file: str, model: ir.Model | None) -> Iterator[str]:
    for matrix in () if model is None else model.matrices:
        if matrix.size <= MOST_ROWS:
            yield _command("matrix", file, matrix.name, "--workers", "1")


def explanations(stored: Iterable[Answer]) -> Iterator[str]:
    """Yield commands that explain what limits those solved, and what is required of them."""
    for one in stored:
        verb, file, *more = shlex.split(one.command)
        if verb == "solve" and isinstance(one.answer, dict) and not file.startswith("generated"):
            found = [_member(one.answer["bottleneck"], "resource")]
            found += [_member(each, "measure") for each in _elements(one.answer["requirements"])]
            for name in dict.fromkeys(filter(None, found)):
                yield shlex.join(["explain", file, name, *more])


def _command(verb: str, file: str, *more: str) -> str:
    return shlex.join([verb, file, *more, "--format", "json"])


def _member(value: Json, key: str) -> str:
    return str(value[key]) if isinstance(value, dict) else ""


def _elements(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
