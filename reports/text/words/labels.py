"""Labels: what output calls each name of a spec, from its docstring or from the name's parts.

A docstring names a thing where it begins with a short noun phrase; any other describes it, and the
declared name is the label. `web.cpu` is `web CPU`, `wan.sfu.out` is `wan egress from sfu`,
`quantile(replies.latency, 99 %)` is `replies p99`. Terminal and page use the same labels;
identifiers stand behind them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.compiler.ir.hardware import ResourceKind
from qps.compiler.ir.measure_names import percentile_level, percentile_text
from qps.compiler.quantities.units import ITEMS, built_in
from qps.reports.text.words.phrases import phrase
from qps.solver.answers.solution import QUALITY

_MOST_LETTERS = 64
_PARTS = {"cpu": "CPU", "nic": "NIC"}
_PARTS_OF_DISKS = {"disk": "disk", "space": "disk space"}
"""Resources of a node whose names alone do not say which of a disk they are."""
_DISKS = {
    ResourceKind.PROCESSOR: "disk",
    ResourceKind.RATE: "disk throughput",
    ResourceKind.STORE: "disk space",
}
"""What a resource `disk` is called where all disks of a spec are of one kind."""
_LATENCY = "latency"
_UTILIZATIONS = (".load", ".utilization")
_SHARES = ("active", "emit", "keep", "merge")
_BETWEEN = {"sends": "sent to", "returns": "returned by"}
_DIRECTIONS = {"out": "egress{} from {}", "in": "ingress{} to {}"}
_MOST_WORDS = 4
_FIRST_WORDS = """
how what which who whom whose where when whether why if because while as than that there so not only
but and or a an the this these those it its he they their we our you your all both each every
everything everyone everybody half one two some about above across after against among around at
before behind below beside besides between beyond by during for from in inside into like of off on
out outside over per since through to toward towards under until up upon via with within without
"""
_CLAUSE_WORDS = """
is are was were be been has have had do does can could may might must shall should will would that
which who whose where when whether while because it they we you
"""
"""What describes instead of naming begins with one of the first, or has one of these."""
_AMOUNT = r"\b\d[\d.]* ?(?:%|[a-z])"
_ORDINARY = r"[A-Z][a-z]+\b(?!.*[A-Z0-9])"
_NAME = r"(?<![\w.`])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?![\w(]|\.\w)"
_QUANTILE = r"quantile\(([\w.]+), ?([\d.]+) ?%\)"
_CONVERTED = r"(?P<name>[A-Za-z_][\w.]*) ?[*/] ?(?P<open>\()?1 (?P<unit>[A-Za-z]\w*)(?(open)\))"
"""A name times or by one of a unit: `between_tokens * 1 token`, `age / (1 request)`."""
_STAGES = {
    "stage.at": r"(.+) at (.+)",
    "stage.waiting": r"waiting for (.+)",
    "stage.over": r"over (.+)",
    "stage.propagation": r"propagation on (.+)",
    "stage.recovered": r"recovered by (.+)",
    "stage.dropped": r"dropped by (.+)",
    "stage.fixed": r"(.+), fixed",
    "stage.together": r"(.+) together",
}
"""Stages of a latency, by their phrases; the page has them, too: `scripts/live/labels.js`."""
_PREFIXES = {"limit of ": "limit", "ideal of ": "ideal", "target of ": "target"}


class Labels(Struct, frozen=True, kw_only=True):
    """What a model calls its nodes, links, streams and all that has a name."""

    docs: Mapping[str, str]
    """All that has a docstring, with the noun phrase that it begins with; empty without one."""
    nodes: frozenset[str]
    links: Mapping[str, tuple[str, ...]]
    """Links, each with its ends."""
    streams: frozenset[str]
    components: frozenset[str]
    kinds: frozenset[str] = frozenset()
    """Parameters, of which some have numbers by kinds, cases or ends."""
    instances: frozenset[str] = frozenset()
    joins_needs: bool = True
    """False where the quality of the spec is a formula of its own."""
    disk: str = "disk"
    """What a resource `disk` is."""
    is_plain: bool = False
    """True where everything is called by its identifier."""

    def of(self, name: str) -> str:
        """Return what a name is called, in a few words."""
        if self.is_plain:
            return name
        found = self._of(name)
        return found if len(found) <= _MOST_LETTERS else f"{found[: _MOST_LETTERS - 1].rstrip()}…"

    def measure(self, name: str) -> str:
        """Return the same of what is measured: `web CPU utilization` of `web.cpu.load`."""
        is_share = not self.is_plain and name.endswith(_UTILIZATIONS)
        return f"{self.of(name)} utilization" if is_share else self.of(name)

    def stage(self, name: str) -> str:
        """Return what a stage of a latency is called: what is done, and where."""
        if self.is_plain:
            return name
        for key, pattern in _STAGES.items():
            found = re.fullmatch(pattern, name)
            if found is not None:
                what, where, *_ = *map(self.of, found.groups()), ""
                return phrase(key, what=what, where=where)
        return self.of(name)

    def sentence(self, text: str) -> str:
        """Return a sentence with words for the names of parts that stand in it, such as `web.cpu`.

        A name of one word may be a word: it stays as it is, unless it stands between backticks.
        """
        if self.is_plain:
            return text
        text = re.sub(r"`([^`]+)`", self._quoted, text)
        text = re.sub(_QUANTILE, self._quantile, text)
        return re.sub(_NAME, lambda found: self._in_sentence(found[0]), text)

    def _quoted(self, found: re.Match[str]) -> str:
        """Return what stands between backticks in words; what names nothing stays as it is."""
        name = found[1]
        known = self.docs, self.nodes, self.links, self.streams, self.components, self.kinds
        saturating = re.fullmatch(r"saturation\((.+)\)", name)
        if saturating is not None:
            words = f"{self.of(saturating[1])} saturation point"
        elif name == QUALITY or any(name in each for each in known):
            words = self.of(name)
        elif name.replace(".", "").isidentifier():
            words = self._part(name) and self.measure(name)
        else:
            words = self.sentence(name) if self.sentence(name) != name else ""
        begins = found.start() == 0 or found.string[: found.start()].endswith(". ")
        # What one types after --set is written as it is typed.
        begins = begins and not (words == name and ("." in name or name in self.kinds))
        return (f"{words[0].upper()}{words[1:]}" if begins else words) if words else found[0]

    def _in_sentence(self, name: str) -> str:
        if "_" in name and name in self.docs:
            return self.of(name)
        return self.measure(name) if self._part(name) else name

    def _of(self, name: str) -> str:
        for prefix, suffix in _PREFIXES.items():
            if name.startswith(prefix):
                return f"{self._of(name.removeprefix(prefix))} {suffix}"
        if self.docs.get(name):
            return self.docs[name]
        if name == QUALITY:
            return self._needs()
        if not name.replace(".", "").isidentifier():  # an expression
            converted = re.fullmatch(_CONVERTED, name)
            if converted and _counts(converted["unit"]):
                return self._of(converted["name"])
            return self.sentence(name)
        return self._part(name) or self._spaced(name)

    def _needs(self) -> str:
        """Return what quality is called."""
        return phrase("quality.all") if self.joins_needs else QUALITY

    def _spaced(self, name: str) -> str:
        """Return a name with blanks; that of a part of an instance, behind what it is a part of."""
        *owners, last = name.split(".")
        if name in self.nodes or name in self.links or name in self.streams:
            return " ".join([*owners, last]).replace("_", " ")
        if len(owners) == 1 and owners[0] in self.kinds:  # `picture.high`, `tool_rate.least`
            return f"{self._of(owners[0])} ({last})".replace("_", " ")
        if owners and owners[0] in self.instances:
            return " ".join([*owners, last]).replace("_", " ")
        if name in self.kinds and owners:  # a factor of a module: `trust.other_machine`
            return name
        return last.replace("_", " ") if owners else part_words(name)

    def _quantile(self, found: re.Match[str]) -> str:
        """Return `replies p99` of a latency, else the percentile behind the label."""
        owner, _, measure = found[1].rpartition(".")
        percentile = f"p{found[2].rstrip('0').rstrip('.') if '.' in found[2] else found[2]}"
        is_latency = owner in self.streams and measure == _LATENCY
        return f"{self._of(owner if is_latency else found[1])} {percentile}"

    def _part(self, name: str) -> str:
        """Return what the part of something is called; empty for what is no such part."""
        owner, _, part = name.rpartition(".")
        if f".{part}" in _UTILIZATIONS and (owner in self.links or self._part(owner)):
            return self._of(owner)
        while owner:
            if owner in self.streams:
                return self._of_stream(owner, part)
            if owner in self.links:
                return self._of_link(owner, part.split("."))
            if owner in self.nodes:
                return self._of_node(owner, part.split("."))
            if owner in self.components:
                return self._of_component(owner, part.split("."))
            owner, _, more = owner.rpartition(".")
            part = f"{more}.{part}"
        return ""

    def _of_stream(self, stream: str, measure: str) -> str:
        """Return `replies latency`, `replies sent to db`."""
        called = self._of(stream)
        to, _, what = measure.rpartition(".")
        if to and what in _BETWEEN:
            return f"{called} {_BETWEEN[what]} {self._of(to)}"
        if percentile_level(measure) is not None:
            return f"{called} {percentile_text(measure)}"
        return f"{called} {measure.replace('.', ' ').replace('_', ' ')}"

    def _of_node(self, node: str, parts: list[str]) -> str:
        """Return `web CPU`, `web CPU utilization`, `web CPU cores`, `web memory capacity`."""
        if parts[0] == "price":
            parts = parts[:1]
        if len(parts) == 1:
            words = self.disk if parts[0] == "disk" else resource_words(parts[0])
            return self._joined(words, node)
        return self._joined(" ".join(map(part_words, parts)), node)

    def _of_link(self, link: str, parts: list[str]) -> str:
        """Return `wan egress from web`, `back from web to db`, `wan rate`."""
        of = ""
        if parts[-1] == "packets":
            parts, of = parts[:-1], " packets"
        ways = {"forth": self.links[link], "back": tuple(reversed(self.links[link]))}
        if not parts:
            return self._joined(of.strip(), link)
        if parts[-1] in _DIRECTIONS and len(parts) > 1:
            node = self._of(".".join(parts[:-1]))
            return self._joined(_DIRECTIONS[parts[-1]].format(of, node), link)
        if parts[0] in ways and len(parts) == 1 and len(ways[parts[0]]) == len("ab"):
            first, last = map(self._of, ways[parts[0]])
            return self._joined(f"{of} from {first} to {last}".strip(), link)
        return self._joined(f"{' '.join(map(part_words, parts))}{of}", link)

    def _of_component(self, component: str, parts: list[str]) -> str:
        """Return `render CPU time`, `render CPU time per byte`."""
        if parts[0] in _SHARES:
            return self._joined(" ".join(map(part_words, parts)), component)
        resource = "CPU time" if parts[0] == "cpu" else part_words(parts[0])
        more = " ".join(map(part_words, parts[2:]))
        of = f" ({more})" if more else ""
        return self._joined(" per ".join([resource, *parts[1:2]]) + of, component)

    def _joined(self, words: str, owner: str) -> str:
        """Return words of an owner: behind its name, or behind its docstring and a colon."""
        if self.docs.get(owner):
            return f"{_cut(self.docs[owner], _MOST_LETTERS - len(words))}: {words}"
        return f"{self._spaced(owner)} {words}"


PLAIN = Labels(
    docs={},
    nodes=frozenset(),
    links={},
    streams=frozenset(),
    components=frozenset(),
    is_plain=True,
)
"""Everything by its identifier."""


def _counts(unit: str) -> bool:
    """Return whether a unit counts items: one of it changes the dimension of a number alone.

    >>> _counts("token"), _counts("request"), _counts("minute")
    (True, True, False)
    """
    known = built_in(unit)
    return known is None or unit in ITEMS


def labels_of(model: ir.Model) -> Labels:
    """Return what a model calls things; `model.once(labels_of)` is made once."""
    disks = {
        resource.kind
        for machine in model.machines.values()
        for resource in machine.resources
        if resource.name == "disk"
    }
    return Labels(
        docs=_noun_phrases(model),
        disk=_DISKS[next(iter(disks))] if len(disks) == 1 else "disk",
        nodes=frozenset(node.name for node in model.nodes),
        links={link.name: link.ends for link in model.links},
        streams=frozenset(stream.name for stream in model.streams),
        components=frozenset(one.name for one in _components(model)),
        kinds=frozenset(one.name for one in model.parameters),
        instances=frozenset(one.name for one in model.instances),
        joins_needs=model.quality.metric is not ir.Metric.FORMULA,
    )


def _noun_phrases(model: ir.Model) -> dict[str, str]:
    """Return the noun phrase of each name with a docstring; what two share names neither."""
    hardware = model.machines.keys() | model.networks.keys()
    found = {name: noun_label(doc) for name, doc in documented(model) if doc}
    found = {name: one if name in hardware else _uncapitalized(one) for name, one in found.items()}
    times = Counter(found.values())
    return {name: one if times[one] == 1 else "" for name, one in found.items()}


def noun_label(doc: str) -> str:
    """Return the noun phrase of few words that a docstring begins with; empty where it has none.

    >>> noun_label("Bytes of a message. Of text alone."), noun_label("Packet rate: on the wire")
    ('Bytes of a message', 'Packet rate')
    >>> noun_label("How busy the threads are."), noun_label("A picture waits, with its packets.")
    ('', '')
    """
    head = re.split(r"[.,:;](?:\s|$)| \(", _line(doc), maxsplit=1)[0].strip()
    return head if 0 < len(head.split()) <= _MOST_WORDS and not _describes(head) else ""


def _describes(head: str) -> bool:
    """Whether words describe: by the first of them, by one of a clause, or by an amount."""
    words = re.findall(r"\w+", head.lower())
    is_named = re.match(r"[^\W\d]", head) is not None and words[0] not in _FIRST_WORDS.split()
    is_clause = not set(_CLAUSE_WORDS.split()).isdisjoint(words)
    return not is_named or is_clause or "`" in head or re.search(_AMOUNT, head) is not None


def _uncapitalized(text: str) -> str:
    """Return a noun phrase as it is amid a sentence, as other labels are; names keep their case."""
    return f"{text[0].lower()}{text[1:]}" if re.match(_ORDINARY, text) else text


def resource_words(name: str) -> str:
    """Return what a resource is in words: `CPU`, `disk space`, `io threads`."""
    return _PARTS_OF_DISKS.get(name, part_words(name))


def part_words(part: str) -> str:
    """Return what a part of a name is in words: `CPU`, `io threads`."""
    return _PARTS.get(part, part).replace("_", " ")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(3, most - 1)].rstrip()}…"


def _components(model: ir.Model) -> Iterator[ir.Component]:
    for stream in model.streams:
        for leg in stream.legs:
            if isinstance(leg, ir.Visit):
                yield from (step.component for step in leg.steps)


def documented(model: ir.Model) -> Iterator[tuple[str, str | None]]:
    """Yield all that may have a doc string, by its name."""
    yield from ((one.name, one.doc) for one in model.machines.values())
    yield from ((one.name, one.doc) for one in model.networks.values())
    yield from ((one.name, one.doc) for one in _components(model))
    yield from ((one.name, one.doc) for one in model.nodes)
    yield from ((one.name, one.doc) for one in model.links)
    yield from ((one.name, one.doc) for one in model.parameters if one.has_own_name)
    yield from ((one.name, one.doc) for one in model.measures if not one.percentile_of)


def _line(doc: str) -> str:
    return printable(" ".join(doc.split()))
