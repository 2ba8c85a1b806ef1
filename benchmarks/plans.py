"""How long the cheapest configuration takes to find and to prove: `python benchmarks/plans.py`.

Processor seconds of one process: of the proof, with the lowering of the structure, and of the whole
plan with its table for other populations. Fifteen services of which each may lose a machine, eight
of these without failures, and chains of four to thirty-two tiers.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import process_time

import qps
from qps.compiler.configure.configuration import base_configuration
from qps.solver.cheapest.plan_answer import Planner

_SERVICES = [
    "gateway",
    "catalog",
    "auth",
    "profile",
    "cart",
    "pricing",
    "stock",
    "order",
    "payment",
    "reviews",
    "shipping",
    "mailer",
    "cache",
    "search",
    "advice",
]
_SPEC = Path(__file__).parents[1] / "specs" / "applications" / "fifteen_services.qps"


def services(chosen: int = len(_SERVICES), *, fails: bool = True) -> str:
    """Return fifteen services with prices; some have 32 options each and may lose a machine."""
    text = _SPEC.read_text(encoding="utf-8").partition("expect served")[0]
    text = text.replace("node shipping, mailer = pod\n", "node shipping, mailer = pod * 2\n")
    axes = "\n".join(f"  {name} in [pod * 1..24, bigpod * 1..8]" for name in _SERVICES[:chosen])
    survived = f"survive any one of {', '.join(_SERVICES[:chosen])}" if fails else ""
    return f"{text}\n{survived}\nchoose {{\n{axes}\n}}\n"


def chain(tiers: int) -> str:
    """Return tiers in a row, each on one of three types of machines, with a limit for all."""
    draw = random.Random(tiers)
    costs = [round(draw.uniform(1, 20), 2) for _ in range(tiers)]
    lines = ["users N in 1..1_000_000", "machine phone { }",
             "network lan { switched; rate 100 Gbit/s; queueing none }"]  # fmt: skip
    for at, cores in enumerate((2, 4, 16)):
        price = round(cores * draw.uniform(20, 30), 2)
        lines.append(f"machine m{at} {{ cpu {cores} core, queueing mmc; price {price} $/month }}")
    lines += [f"component work{at} {{ cpu {cost} ms/request }}" for at, cost in enumerate(costs)]
    nodes = "; ".join(f"node tier{at} = m1 * 2" for at in range(tiers))
    lines.append(f"topology {{ {nodes}; node client = phone * N; link net = lan between all }}")
    visits = "; ".join(f"at tier{at} {{ work{at} }}" for at in range(tiers))
    lines.append("stream page for each client { traffic 0.1 request/s, 1 kB/request; "
                 f"at client {{ }}; over net; {visits} }}")  # fmt: skip
    lines.append(f"require {{ page.latency <= {1.3 * sum(costs):.2f} ms }}")
    axes = "; ".join(f"tier{at} in [m0 * 1..45, m1 * 1..45, m2 * 1..3]" for at in range(tiers))
    lines.append(f"choose {{ {axes} }}")
    return "\n".join(lines)


def main() -> None:
    """Print what each plan takes."""
    cases = [
        ("fifteen services, n - 1", services(), 14_000),
        ("eight of these", services(8, fails=False), 14_000),
    ]
    cases += [(f"{tiers} tiers", chain(tiers), 20_000) for tiers in (4, 8, 16, 32)]
    for name, text, users in cases:
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        model = qps.loads(text).spec.model
        start = process_time()
        planner = Planner(model, base_configuration(model), model.choices[0])
        found = planner.search(users)
        took = process_time() - start
        start = process_time()
        qps.loads(text).plan(users)
        whole = process_time() - start
        print(
            f"{name:24} {planner.space.size:10.1e} combinations {found.boxes:8,} boxes "
            f"{found.tried:4} tried  {'proven' if found.is_complete else 'OPEN':7} {took:7.2f} s, "
            f"the whole plan {whole:7.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
