"""Specs of a given size, for benchmarks: every component used once, every node visited."""

from __future__ import annotations


def spec_of(components: int) -> str:
    """Return a spec with so many components, a tenth as many nodes, links and streams.

    Each stream runs ten components over two nodes that a link of its own joins.
    """
    groups = max(1, components // 10)
    lines = [
        "users N in 1..100_000",
        "unit score of rating",
        "machine box { cpu 100 score }",
        "network wire { rate 10 Gbit/s }",
        "costs measured on box",
    ]
    lines += [
        f"component c{i} {{ cpu {1 + i % 7} us/packet + 0.00{1 + i % 9} us/byte }}"
        for i in range(components)
    ]
    lines.append("topology {")
    lines += [f"  node n{g} = box" for g in range(groups)]
    lines += [
        f"  link l{g} = wire between n{g}, n{(g + 1) % groups}"
        if groups > 1
        else "  link l0 = wire between n0"
        for g in range(groups)
    ]
    lines.append("}")
    for g in range(groups):
        steps = [f"c{i}" for i in range(g, components, groups)]
        half = max(1, len(steps) // 2)
        here, there = f"n{g}", f"n{(g + 1) % groups}"
        lines += [
            f"stream s{g} {{",
            "  source N * 8000 byte/s in 1000 byte/packet",
            f"  at {here} {{ {'; '.join(steps[:half])} }}",
            f"  over l{g}" if groups > 1 else "",
            f"  at {there} {{ {'; '.join(steps[half:])} }}",
            "}",
        ]
    return "\n".join(lines) + "\n"
