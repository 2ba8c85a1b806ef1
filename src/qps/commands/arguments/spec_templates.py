"""The specs that `qps new` can start from, by the name that `--example` takes."""

from __future__ import annotations

from importlib.resources import files

from msgspec import Struct


class StartingSpec(Struct, frozen=True):
    """A spec in this package: the package, its file there, and what it describes."""

    package: str
    file: str
    about: str


def _application(name: str, about: str) -> StartingSpec:
    return StartingSpec("qps.specs", f"applications/{name}.qps", about)


DEFAULT = "web"
STARTING_SPECS: dict[str, StartingSpec] = {
    DEFAULT: StartingSpec("qps.stdlib", "_start.qps.txt", "a small web site (the default)"),
    "chat": _application("chat", "a group chat in three regions"),
    "fifteen_services": _application("fifteen_services", "a web shop of 15 microservices"),
    "kafka": _application("kafka", "an event pipeline: brokers, disks, retention"),
    "kubernetes": _application("kubernetes", "a shared cluster: pods, requests, nodes"),
    "llm": _application("llm", "an LLM chat on 4 GPUs"),
    "shop": _application("shop", "a web shop: thread pool, cache, replicas, Black Friday"),
    "thirteen_services": _application("thirteen_services", "microservices with think time"),
}
"""By name; a test holds them against the folder `specs/applications`."""


def text_of(spec: StartingSpec) -> str:
    """Return the text of a starting spec."""
    path = files(spec.package).joinpath(*spec.file.split("/"))
    return path.read_text(encoding="utf-8")
