"""The times that were to be reached, each beside what is run at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import log
from pathlib import Path

import generated
import pool_targets
import requested
from measures import (
    APPLICATIONS,
    EXPONENT,
    LIMIT,
    S_OF_TARGETS,
    SPECS,
    BenchmarkTarget,
    Found,
    along,
    command,
    folder,
    made,
    measured_with_unit,
    qps,
    ratio,
    row,
    sympy_seconds,
)
from timings import ROOT, Used, used


def _solved(name: str, text: str, *words: str) -> Found:
    return command("solve", "-q", *words, made(name, text))


def _again(spec: str, setting: str) -> Found:
    """Solve with another number what was solved before."""
    path, kept = SPECS / f"{spec}.qps", folder() / "kept"
    qps("solve", "-q", path, kept=kept)()
    return command("solve", "-q", path, "--set", setting, kept=kept)


def _checked_and_solved() -> Found:
    for name, text in generated.files_of(10_000).items():
        path = folder() / name
        path.write_text(text, encoding="utf-8")
    took, unit = measured_with_unit(qps("solve", "-q", "--no-advice", path))
    return Found(took.seconds / unit, took.seconds, took.megabytes, took.is_late)


def _growth(kind: Callable[[int], str]) -> Found:
    """Return the exponent with which the time grows from 100 to 1,000, without the start."""
    paths = [made(f"{kind.__name__}_{count}", kind(count)) for count in (1, 100, 1000)]
    least, small, large = (
        measured_with_unit(qps("solve", "-q", "--no-advice", path)) for path in paths
    )
    start, few, many = (took.seconds / unit for took, unit in (least, small, large))
    figure = log(max(many - start, 0.01) / max(few - start, 0.01)) / log(10)
    return Found(figure, large[0].seconds, large[0].megabytes, large[0].is_late)


def _queue_row(discipline: str, share: str = "") -> Found:
    name = f"{discipline}_{share[:2]}" if share else discipline
    return row(made(name, generated.queue(discipline, share)), "cost")


def _structures(part: str) -> Found:
    text = generated.structures(6).partition("matrix")[0]
    found, took, unit = along(made("structures", text), "choices")
    return Found(float(str(found[0][part])) * S_OF_TARGETS / unit, took.seconds)


# -- whole runs ----------------------------------------------------------------------------


def _run(rows: int, output: str, *words: str) -> Callable[[], Used]:
    import matrix_runs  # noqa: PLC0415 - imports all that solves

    place = folder() / f"audioconference_{rows}"
    if not place.exists():
        place.mkdir()
        matrix_runs.spec(place, rows)
    spec, file = place / "audioconference.qps", place / output
    return qps("matrix", spec, "benchmark", "-q", "-o", file, *words, kept=folder() / "kept")


def _resumed() -> Found:
    run = _run(1_000_000, "whole.parquet")
    run()
    return ratio(_run(1_000_000, "whole.parquet", "--resume"), run)


def _dask() -> Found:
    return ratio(_run(1_000_000, "dask.parquet", "--on", "dask"), _run(1_000_000, "here.parquet"))


def _numpy(column: int) -> Found:
    import matrix_runs  # noqa: PLC0415

    unit = sympy_seconds()
    ((_, took, _, ratio),) = matrix_runs.against_bare(matrix_runs.Drawn()).rows
    figure = (float(took) / 1000 * S_OF_TARGETS / unit, float(ratio))[column]
    return Found(figure, 10)


# -- the table -----------------------------------------------------------------------------


def targets() -> Iterator[BenchmarkTarget]:
    """Yield all that is to be reached."""
    small = made("small", (ROOT / "stdlib" / "_start.qps.txt").read_text(encoding="utf-8"))
    s = partial(_s_target)
    yield s("qps check of a small spec", "0.85 S", 0.5, partial(command, "check", "-q", small))
    yield s("qps solve of a small spec", "3.2 S", 0.8, partial(command, "solve", "-q", small))
    solves = (
        ("sfu", "4.2 S", 1.5, "seen=8"),
        ("audioconference", "10 S", 3.0, "power=30 ws.SPECint92"),
        ("flying", "12 S", 3.5, "servers=60"),
    )
    for name, before, goal, _ in solves:
        spec = SPECS / f"{name}.qps"
        yield s(f"qps solve of {name}", before, goal, partial(command, "solve", "-q", spec))
    for name, before, goal, setting in solves:
        again = partial(_again, name, setting)
        yield s(f"{name} again, with --set {setting}", before, goal / 2, again)
    for name, before in (("audioconference", "29 S"), ("flying", "36 S")):
        words = ("report", "-q", SPECS / f"{name}.qps", "-o", folder() / "page.html")
        yield s(f"qps report of {name}", before, 8, partial(command, *words))
    yield s("qps test specs/", "46 S", 15, partial(command, "test", "-q", SPECS))
    yield from _rows()
    yield from _requests(s)
    yield from _large(s)
    yield from _growing(s)
    yield from _services(s)
    yield from _waiting()
    yield from _pools()
    check = qps("check", "-q", SPECS / "audioconference.qps")
    fmt = qps("fmt", "--check", "-q", SPECS / "audioconference.qps")
    yield BenchmarkTarget("qps fmt against check", "3.5 x", 1.0, " x", partial(ratio, fmt, check))
    yield BenchmarkTarget("Dask on one machine against processes", "2.6 x", 1.2, " x", _dask)
    yield BenchmarkTarget("--resume of a finished run against the run", "1 x", 0.2, " x", _resumed)


def _s_target(what: str, before: str, goal: float, measure: Callable[[], Found]) -> BenchmarkTarget:
    return BenchmarkTarget(what, before, goal, " S", measure)


def _rows() -> Iterator[BenchmarkTarget]:
    def of(what: str, before: str, goal: float, measure: Callable[[], Found]) -> BenchmarkTarget:
        return BenchmarkTarget(f"a row: {what}", before, goal, " us", measure)

    measured: Sequence[tuple[str, str, str]] = (
        ("sfu", "speakers", "8,000 us and up"),
        ("iri", "images", "596,000 us"),
        ("problem_solving", "zipped", "4,400 us"),
        ("flying", "processors", "3,450 us"),
        ("virtual_cockpit", "update_rate", "2,700 us"),
    )
    for name, axis, before in measured:
        yield of(f"{name}, {axis}", before, 10, partial(row, SPECS / f"{name}.qps", axis))
    for discipline in ("mm1", "md1", "mg1 cv 1.2", "mmc", "periodic"):
        measure = partial(_queue_row, discipline)
        yield of(f"mean wait, {discipline}", "20,000 us", 10, measure)
    for share in ("95 %", "99 %"):
        for discipline in ("mm1", "md1", "mg1 cv 1.2", "mmc", "periodic"):
            measure = partial(_queue_row, discipline, share)
            yield of(f"p{share[:2]} as the limit, {discipline}", "560,000 us", 100, measure)
    yield of("64 structures of one row each", "900 us", 300, partial(_structures, "us"))
    yield of("64 structures: compiling each", "3,750 us", 300, partial(_structures, "compiling"))
    yield of("audioconference, 10^6 rows", "1.13 us", 1.13, partial(_numpy, 0))
    yield BenchmarkTarget("the same against numpy", "3.3 x", 3.3, " x", partial(_numpy, 1))


def _requests(s: Callable[..., BenchmarkTarget]) -> Iterator[BenchmarkTarget]:
    """Yield what takes steps by chance, alternatives, fan-outs and CPU limits."""
    rows = (
        ("p99 as the limit, 1.4 %: scan", "51,600 us", requested.MIXTURE),
        ("p99 as the limit, one of two pools", "350 us", requested.ONE_OF),
        ("p99 as the limit, two calls together", "", requested.fork()),
        ("p99 as the limit, a step and two calls", "", requested.fork("work; ")),
        ("p99 as the limit, 100 calls at once", "174 us", requested.fan_out()),
        ("p99 as the limit, 100 calls and a step", "511,000 us", requested.fan_out("; merged")),
        ("p99 as the limit, 100 calls, 1 %: slow", "", requested.fan_out(step=requested.SLOW)),
        (
            "p99 as the limit, 100 calls, 1 %: slow, and a step",
            "",
            requested.fan_out("; merged", step=requested.SLOW),
        ),
        (
            "p99 as the limit, 100 calls of one length and a step",
            "",
            requested.fan_out("; merged", "md1"),
        ),
        (
            "mean as the limit, 100 calls, 1 %: slow, and a step",
            "",
            requested.fan_out("; merged", step=requested.SLOW, measure="latency"),
        ),
        ("mean as the limit, a CPU limit", "", requested.quota("latency")),
    )
    for number, (what, before, text) in enumerate(rows):
        measure = partial(row, made(f"requested_{number}", text), "cost")
        yield BenchmarkTarget(f"a row: {what}", before, 100, " us", measure)
    solved = (
        ("1.4 %: scan", requested.MIXTURE),
        ("100 calls at once and a step", requested.fan_out("; merged")),
        ("a CPU limit, p99", requested.quota("p99")),
    )
    for number, (what, text) in enumerate(solved):
        measure = partial(_solved, f"requested_alone_{number}", text, "--no-advice")
        yield s(f"qps solve of {what}", "", 2, measure)


def _large(s: Callable[..., BenchmarkTarget]) -> Iterator[BenchmarkTarget]:
    limited = generated.queue("md1", "99 %", "1_000_000_000")
    measure = partial(_solved, "md1_p99_large", limited, "--no-advice")
    yield s("a p99 limit (md1), N to 10^9", "over 60 S", 1, measure)
    chat = APPLICATIONS[1] / "chat.qps"
    measure = partial(command, "solve", "-q", "--no-advice", chat)
    yield s("16 cores of mmc, N to 5,000,000 (chat)", "200 S", 3, measure)
    for kind in (generated.options, generated.parameters):
        measure = partial(_solved, f"{kind.__name__}_100", kind(100))
        yield s(f"advice with 100 {kind.__name__}", "28 S", 2, measure)
    measure = partial(_solved, "options_300", generated.options(300))
    yield s("advice with 300 options", "18 S", 10, measure)


def _services(s: Callable[..., BenchmarkTarget]) -> Iterator[BenchmarkTarget]:
    for count, times, before in ((30, 1, "3.7 S"), (300, 10, "130 S")):
        spec = made(f"services_{count}", generated.services(count))
        check = qps("check", "-q", spec)
        told = f"of {count} services"
        yield s(f"qps check {told}", "", times, partial(command, "check", "-q", spec))
        solve = partial(command, "solve", "-q", spec)
        yield s(f"qps solve {told}, with advice", before, 2 * times, solve)
        fmt = qps("fmt", "--check", "-q", spec)
        yield BenchmarkTarget(
            f"qps fmt {told} against check", "", 1.0, " x", partial(ratio, fmt, check)
        )


def _waiting() -> Iterator[BenchmarkTarget]:
    """Yield what takes users who wait for their answers, and what is played."""
    few = made("closed", generated.closed(400, "15 s"))
    many = made("closed_many", generated.closed(1_000_000, "60_000 s"))
    yield BenchmarkTarget(
        "a row: closed, three stations, N to 400", "", 10, " us", partial(row, few, "think", "cost")
    )
    yield BenchmarkTarget(
        "a row: closed, three stations, N to 10^6",
        "",
        10,
        " us",
        partial(row, many, "think", "cost"),
    )
    inside = partial(_inside, "closed", "1000000")
    yield BenchmarkTarget("the rate of a closed network at N = 10^6", "", 50, " ms", inside)
    slow = (
        ("two classes at twelve stations, N to 3,000", generated.classes(3000)),
        ("many of two classes at twelve stations, N to 100,000", generated.classes(100_000)),
        ("three kinds of users who wait, N to 400", generated.kinds_who_wait(400)),
    )
    for what, text in slow:
        named = what.partition(",")[0].replace(" ", "_")
        yield BenchmarkTarget(what, "", 10, " S", partial(_solved, named, text, "--no-advice"))
    yield from _percentiles()
    yield BenchmarkTarget(
        "400 users who wait, --users 300",
        "",
        10,
        " S",
        partial(command, "solve", "-q", few, "--users", "300"),
    )
    tandem = made("tandem", generated.tandem())
    played = partial(_inside, "simulated", str(tandem), "8")
    yield BenchmarkTarget("10^6 packets played through three stations", "", 10_000, " ms", played)


def _percentiles() -> Iterator[BenchmarkTarget]:
    """Yield what takes percentiles of applications with pools, and with parallel calls."""
    shop, services = (SPECS / "applications" / f"{n}.qps" for n in ("shop", "fifteen_services"))
    solve = partial(command, "solve", "-q")
    yield BenchmarkTarget("a web shop with pools and p99", "21 S", 10, " S", partial(solve, shop))
    explain = partial(command, "explain", "-q", shop, "page.p99")
    yield BenchmarkTarget("the p99 of the web shop, explained", "30 S", 12, " S", explain)
    measure = partial(solve, services)
    yield BenchmarkTarget("fifteen services with parallel calls and p99", "25 S", 12, " S", measure)


def _pools() -> Iterator[BenchmarkTarget]:
    yield from pool_targets.targets()


def _inside(*words: str) -> Found:
    """Return ms on a machine on which S is that of rows."""
    script = str(Path(__file__).parent / "inside.py")
    took, unit = measured_with_unit(partial(used, [script, *words], LIMIT), 1)
    return Found(
        float(took.text) * 1000 * S_OF_TARGETS / unit, took.seconds, took.megabytes, took.is_late
    )


def _growing(s: Callable[..., BenchmarkTarget]) -> Iterator[BenchmarkTarget]:
    kinds = (
        (generated.steps, "44 S", "n^1.5"),
        (generated.addends, "32 S", "n^1.6"),
        (generated.maximum, "over 116 S", "n^1.9"),
        (generated.elastic, "not reached", "2^n"),
    )
    for kind, before, exponent in kinds:
        name = kind.__name__
        measure = partial(_solved, f"{name}_1000", kind(1000), "--no-advice")
        yield s(f"1,000 {name}", before, 10, measure)
        grows = partial(_growth, kind)
        yield BenchmarkTarget(f"{name} from 100 to 1,000", exponent, 1.2, EXPONENT, grows)
    yield s("10,000 components: check, lower, solve", "not reached", 60, _checked_and_solved)
