"""Specs of any size, for benchmarks: each grows one thing."""

from __future__ import annotations

import re

_A_FILE = 5000  # components: a file has a largest length


def files_of(components: int) -> dict[str, str]:
    """Return the same spec as `spec_of`, in files by their names; the last one is to be solved."""
    files = {}
    for first in range(0, components, _A_FILE):
        lines = ["unit score of rating", "machine box { cpu 100 score }", "costs measured on box"]
        lines += [_component(i) for i in range(first, min(first + _A_FILE, components))]
        files[f"part{first // _A_FILE}.qps"] = "\n".join([*lines, ""])
    uses = "".join(f'use "{name}" as {name[:-4]}\n' for name in files)
    rest = [line for line in spec_of(components).split("\n") if not line.startswith("component ")]
    text = re.sub(r"\bc(\d+)\b", lambda c: f"part{int(c[1]) // _A_FILE}.{c[0]}", "\n".join(rest))
    text = text.replace("unit score of rating\nmachine box { cpu 100 score }\n", "")
    text = text.replace("costs measured on box\n", "").replace("= box", "= part0.box")
    return {**files, "whole.qps": uses + text}


def _component(i: int) -> str:
    return f"component c{i} {{ cpu {1 + i % 7} us/packet + 0.00{1 + i % 9} us/byte }}"


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
    lines += [_component(i) for i in range(components)]
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
            "  traffic N * 8000 byte/s, 1000 byte/packet",
            f"  at {here} {{ {'; '.join(steps[:half])} }}",
            f"  over l{g}" if groups > 1 else "",
            f"  at {there} {{ {'; '.join(steps[half:])} }}",
            "}",
        ]
    return "\n".join(lines) + "\n"


_HEAD = "unit score of rating\nmachine box { cpu 100 score }\ncosts measured on box\n"


def _each(count: int, text: str, between: str = "") -> str:
    """Return a text once for each number; `{i}` is the number, `{c}` one that goes round."""
    return between.join(text.format(i=i, c=1 + i % 7) for i in range(count))


def _one_node(components: str, steps: str, more: str = "require { fl.latency <= 1000 s }\n") -> str:
    return (
        f"users N in 1..100_000\n{_HEAD}{components}topology {{ node n = box }}\n"
        "stream fl {\n  traffic N * 8000 byte/s, 1000 byte/packet\n"
        f"  at n {{ {steps} }}\n}}\n{more}"
    )


def steps(count: int) -> str:
    """Return a spec of so many steps at one node."""
    components = _each(count, "component c{i} {{ cpu {c} us/packet }}\n")
    return _one_node(components, _each(count, "c{i}", "; "))


def parameters(count: int) -> str:
    """Return a spec of so many parameters, each the cost of a step."""
    each = "param p{i} = {c} us/packet in 0..100 us/packet\ncomponent c{i} {{ cpu p{i} }}\n"
    return _one_node(_each(count, each), _each(count, "c{i}", "; "))


def addends(count: int) -> str:
    """Return a spec with a cost of so many addends."""
    numbers = _each(count, "param p{i} = {c} us/packet in 0..100 us/packet\n")
    return _one_node(f"{numbers}component c {{ cpu {_each(count, 'p{i}', ' + ')} }}\n", "c")


def options(count: int) -> str:
    """Return a spec of so many options, each with a step."""
    each = "option o{i} = on\ncomponent c{i} {{ cpu 1 us/packet }}\n"
    return _one_node(_each(count, each), _each(count, "c{i} if o{i}", "; "))


def maximum(count: int) -> str:
    """Return a spec with a measure that is the largest of so many lines."""
    lines = ", ".join(f"N * {1 + i} + {(count - i) ** 2}" for i in range(count))
    limits = f"measure m = max({lines})\nrequire {{ m <= 1_000_000_000 }}\n"
    return _one_node("component c { cpu 1 us/packet }\n", "c", limits)


def elastic(count: int) -> str:
    """Return a spec of so many streams that take what capacity is left."""
    return (
        "users N in 1..100_000\nmachine box { cpu 4 core }\n"
        + _each(
            count,
            "param e{i} elastic 1..30 frame/s\n"
            "component c{i} {{ cpu 1 ms/frame measured on box }}\n",
        )
        + "topology { node n = box }\n"
        + _each(count, "stream s{i} {{\n  traffic N * e{i}\n  at n {{ c{i} }}\n}}\n")
        + "require { n.cpu.load <= 100 % }\n"
    )


def services(count: int) -> str:
    """Return a spec of so many services that one gateway calls, five for each stream."""
    names = ", ".join(f"svc{i}" for i in range(count))
    streams = []
    for first in range(0, count, 5):
        calls = [
            f"  call svc{i} {{ work({3 + i % 5}00 us/request); "
            f"call svc{(i + 7) % count} * 20 % {{ work(1 ms/request) }} }}\n"
            for i in range(first, min(first + 5, count))
        ]
        streams.append(
            f"stream st{first // 5} for each user {{\n"
            " traffic 1 request / 20 s, 2 kB/request, 1448 byte/packet\n at client { }\n"
            f" at gateway {{\n  work(0.2 ms/request)\n{''.join(calls)} }}\n at client {{ }}\n}}\n"
        )
    return (
        "users N in 1..1_000_000\nmachine pod { cpu 2 core }\nmachine browser { }\n"
        "network mesh { switched; rate 10 Gbit/s; propagation 50 us }\n"
        "component work(t) { cpu t }\n"
        "topology {\n node client = browser * N\n node gateway = pod * 4\n"
        f" node {names} = pod * 2\n link lan = mesh between all\n}}\n"
        f"{''.join(streams)}target cpu 70 %\nrequire {{ st0.latency <= 250 ms }}\n"
    )


def queue(discipline: str, share: str = "", largest: str = "100_000") -> str:
    """Return a spec of one queue, whose mean wait or quantile is limited, to so many users."""
    bound = f"quantile(fl.latency, {share})" if share else "fl.latency"
    cores = "4 core * " if discipline == "mmc" else ""
    return (
        f"users N in 1..{largest}\nunit score of rating\n"
        f"machine m {{ cpu {cores}100 score, queueing {discipline} }}\n"
        "param cost = 5 us/packet in 1..20 us/packet\ncosts measured on m\n"
        "component c { cpu cost }\ntopology { node n = m }\n"
        "stream fl {\n  traffic N * 8000 byte/s, 1000 byte/packet\n  at n { c }\n}\n"
        f"require {{ {bound} <= 1 s }}\n"
    )


def closed(most: int, think: str) -> str:
    """Return a spec of up to so many users who wait for their answers at three stations."""
    return (
        f"users N in 1..{most}\nparam think = {think} in 1 s..1_000_000 s\n"
        "param cost = 60 ms/request in 20..80 ms/request\nmachine seat { }\n"
        "machine m {\n  cpu 1 core, queueing mm1; disk 1 core, queueing mm1\n"
        "  gpu 1 core, queueing ps\n}\n"
        "component c { cpu 40 ms/request; disk 50 ms/request; gpu cost }\n"
        "network wire { propagation 0 s }\n"
        "topology { node who = seat * N; node n = m; link lan = wire between who, n }\n"
        "stream fl for each who {\n  traffic 1 request, think think\n"
        "  at who { }\n  over lan\n  at n { c }\n}\n"
        "require { fl.latency <= 1 s }\n"
    )


def classes(most: int, stations: int = 12) -> str:
    """Return a spec of two classes of up to so many users at stations of four cores."""
    nodes, links = _each(stations, "a{i}", ", "), "link lan = wire between who, "
    visits = _each(stations, "over lan; at a{i} {{ NAME }}", "; ")
    streams = "".join(
        f"stream {name} for each who {{\n  traffic 1 request, think {think}\n  at who {{ }}\n"
        f"  {visits.replace('NAME', name + '_')}\n}}\n"
        for name, think in (("browse", "20 s"), ("buy", "200 s"))
    )
    return (
        f"users N in 1..{most}\nmachine seat {{ }}\nmachine m {{ cpu 4 core, queueing ps }}\n"
        "component browse_ { cpu 1 ms/request }\ncomponent buy_ { cpu 4 ms/request }\n"
        "network wire { propagation 0 s }\n"
        f"topology {{ node who = seat * N; node {nodes} = m; {links}{nodes} }}\n{streams}"
        "require { browse.latency <= 200 ms }\n"
    )


def kinds_who_wait(most: int) -> str:
    """Return a spec of up to so many users of three kinds, who wait at three stations."""
    return (
        f"users N in 1..{most}\nkinds audience of users {{ light 60 %; medium 30 %; heavy 10 % }}\n"
        "param often by audience { light 1; medium 2; heavy 5 }\n"
        "machine m { cpu 1 core, queueing ps; disk 1 core, queueing ps; gpu 1 core, queueing ps }\n"
        "component work { cpu 40 ms/request; gpu 60 ms/request }\n"
        "component seek { disk 25 ms/request }\ntopology { node n = m }\n"
        "stream job for each user {\n  traffic 1 request, think 15 s\n"
        "  at n { work; seek * often }\n}\nrequire { job.latency <= 1 s }\n"
    )


def tandem() -> str:
    """Return a spec of three stations in a row at a load of 80 %."""
    return (
        "users N in 1..8\nmachine seat { }\nmachine m { cpu 1 core, queueing mm1 }\n"
        "component c { cpu 10 ms/packet }\nnetwork wire { propagation 0 s }\n"
        "topology { node who = seat; node a, b, d = m; link lan = wire between who, a, b, d }\n"
        "stream fl {\n  traffic N * 10 packet/s\n  at who { }; over lan; at a { c }\n"
        "  over lan; at b { c }\n  over lan; at d { c }\n}\nrequire { fl.latency <= 1 s }\n"
    )


def structures(count: int) -> str:
    """Return a spec with a matrix over so many options: each row is a structure of its own."""
    switches = _each(count, "option o{i} = on\ncomponent c{i} {{ cpu {c} us/packet }}\n")
    base = "component base { cpu 1 us/packet }\n"
    axes = _each(count, "o{i} in [on, off]", "; ")
    limits = f"require {{ fl.latency <= 1 s }}\nmatrix all {{ {axes} }}\n"
    return _one_node(switches + base, "base; " + _each(count, "c{i} if o{i}", "; "), limits)
