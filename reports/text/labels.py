"""What things are called for people: by doc strings, else in words that their names stand for.

`wan.sfu.out` is what the link `wan` carries out of `sfu`, `web.cpu.cores` are the cores of `web`:
the language says so, whatever the spec. Terminal and page call things so; identifiers stand behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.solver.answers.answering import QUALITY

_MOST_LETTERS = 64
_MOST_LETTERS_OF_NEEDS = 48  # a page has no room for more in a table
_PARTS = {"cpu": "processor", "nic": "network card"}
_OF_STREAMS = {
    "latency": "delay of {}",
    "loss": "loss of {}",
    "jitter": "jitter of {}",
    "throughput": "what arrives of {}",
    "rate": "rate of {}",
    "buffer": "buffer of {}",
    "queue": "queue of {}",
}
_BETWEEN = {"sends": "what {stream} sends to {node}", "returns": "what {node} returns to {stream}"}
_OF_PARTS = {"cores": "cores of {}", "capacity": "{}", "speed": "speed of the {}", "load": "{}"}
_SHARES = ("active", "emit", "keep", "merge")
_SENTENCE = re.compile(r"(?<=[^.])[.:;](?:\s|$)")
_NAME = re.compile(r"(?<![\w.`])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?![\w(]|\.\w)")
_QUANTILE = re.compile(r"quantile\(([\w.]+), ?([\d.]+) ?%\)")
_QUOTED = re.compile(r"`([^`]+)`")
_ALL_NEEDS = "all needs{} together"
_MOST_LEFT_OUT = 2
"""Needs that quality does not join, told by name; of more it is told how many it joins."""
_STAGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(.+)( at )(.+)",
        r"()(waiting for |over |propagation on |recovered by |dropped by )(.+)",
        r"(.+)(, fixed| together)()",
    )
)
"""As the page has them, too: `scripts/live/labels.js`."""
_SATURATION = re.compile(r"saturation\((.+)\)")
_PREFIXES = ("limit of ", "ideal of ")


class Labels(Struct, frozen=True, kw_only=True):
    """What a model calls its nodes, links, streams and all that has a name."""

    docs: Mapping[str, str]
    """Doc strings, each in one line."""
    nodes: frozenset[str]
    links: Mapping[str, tuple[str, ...]]
    """Links, each with its ends."""
    streams: frozenset[str]
    components: frozenset[str]
    kinds: frozenset[str] = frozenset()
    """Parameters, of which some have numbers by kinds, cases or ends."""
    instances: frozenset[str] = frozenset()
    quality: tuple[int, tuple[str, ...]] | None = (0, ())
    """How many needs quality joins, and those that it does not: loads, floors without an ideal,
    what must hold with a certainty. None where it is a formula of its own."""
    is_plain: bool = False
    """True where everything is called by its identifier."""

    def of(self, name: str) -> str:
        """Return what a name is called, in a few words."""
        if self.is_plain:
            return name
        found = self._of(name)
        return found if len(found) <= _MOST_LETTERS else f"{found[: _MOST_LETTERS - 1].rstrip()}…"

    def stage(self, name: str) -> str:
        """Return what a stage of a latency is called: what is done, and where."""
        if self.is_plain:
            return name
        for pattern in _STAGES:
            found = pattern.fullmatch(name)
            if found is not None:
                before, between, after = found.groups()
                return f"{before and self.of(before)}{between}{after and self.of(after)}"
        return self.of(name)

    def told(self, text: str) -> str:
        """Return a sentence with words for the names of parts that stand in it, such as `web.cpu`.

        A name of one word may be a word: it stays as it is, unless it stands between backticks.
        """
        if self.is_plain:
            return text
        text = _QUOTED.sub(self._quoted, text)
        text = _QUANTILE.sub(self._quantile, text)
        return _NAME.sub(lambda found: self._in_sentence(found[0]), text)

    def _quoted(self, found: re.Match[str]) -> str:
        """Return what stands between backticks in words; what names nothing stays as it is."""
        name = found[1]
        known = self.docs, self.nodes, self.links, self.streams, self.components, self.kinds
        saturating = _SATURATION.fullmatch(name)
        if saturating is not None:
            words = f"the saturation of {self.of(saturating[1])}"
        elif name == QUALITY or any(name in each for each in known):
            words = self.of(name)
        elif name.replace(".", "").isidentifier():
            words = self._part(name)
        else:
            words = self.told(name) if self.told(name) != name else ""
        begins = found.start() == 0 or found.string[: found.start()].endswith(". ")
        return (f"{words[0].upper()}{words[1:]}" if begins else words) if words else found[0]

    def _in_sentence(self, name: str) -> str:
        if "_" in name and name in self.docs:
            return self.of(name)
        return self._part(name) or name

    def _of(self, name: str) -> str:
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                return f"{prefix}{self._of(name.removeprefix(prefix))}"
        if name in self.docs:
            return first_sentence(self.docs[name])
        if name == QUALITY:
            return self._needs()
        if not name.replace(".", "").isidentifier():  # an expression
            return self.told(name)
        return self._part(name) or self._spaced(name)

    def _needs(self) -> str:
        """Return what quality is called: the needs that it joins."""
        if self.quality is None:
            return QUALITY
        joined, left_out = self.quality
        named = " and ".join(self._of(name) for name in left_out)
        told = _ALL_NEEDS.format(f" but {named}" if left_out else "")
        if len(left_out) > _MOST_LEFT_OUT or len(told) > _MOST_LETTERS_OF_NEEDS:
            return f"{joined} of {joined + len(left_out)} needs together"
        return told

    def _spaced(self, name: str) -> str:
        """Return a name with blanks; that of a part of an instance, with what it is a part of."""
        *owners, last = name.split(".")
        if name in self.nodes or name in self.links or name in self.streams:
            return " of ".join([last, *reversed(owners)]).replace("_", " ")
        if len(owners) == 1 and owners[0] in self.kinds:  # `picture.high`, `tool_rate.least`
            return f"{self._of(owners[0])}, {last}".replace("_", " ")
        if owners and owners[0] in self.instances:
            return " of ".join([last, *reversed(owners)]).replace("_", " ")
        return last.replace("_", " ") if owners else name.replace("_", " ")

    def _quantile(self, found: re.Match[str]) -> str:
        share = Fraction(found[2]) / 100
        of = 100 if (share * 100).denominator == 1 else share.denominator
        kept = share * of
        return f"{self._of(found[1])} ({kept.numerator:,} in {of:,})"

    def _part(self, name: str) -> str:
        """Return what the part of something is called; empty for what is no such part."""
        owner, _, part = name.rpartition(".")
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
        words = _OF_STREAMS.get(measure)
        called = self._of(stream)
        if words:
            return words.format(called)
        to, _, what = measure.rpartition(".")
        if to and what in _BETWEEN:
            return _BETWEEN[what].format(stream=called, node=self._of(to))
        return f"{measure.replace('.', ' ').replace('_', ' ')} of {called}"

    def _of_node(self, node: str, parts: list[str]) -> str:
        """Return `processor of web`, `cores of web`, `thread main of web`."""
        resource = _PARTS.get(parts[0], parts[0]).replace("_", " ")
        kind = _OF_PARTS.get(parts[-1]) if len(parts) > 1 else "{}"
        if parts[-1] == "cores":
            resource = ""
        words = (kind or f"{parts[-1].replace('_', ' ')} of the {{}}").format(resource).strip()
        if parts[0] == "price":
            words = "price"
        return self._joined(words.removesuffix(" of"), node)

    def _of_link(self, link: str, parts: list[str]) -> str:
        """Return `link wan, out of web`, `link wan, from a to b`, `rate of link wan`."""
        parts = [part for part in parts if part != "load"]
        called = self._owner(link, f"link {self._spaced(link)}")
        of = ""
        if parts and parts[-1] == "packets":
            parts, of = parts[:-1], "packets "
        ways = {"forth": self.links[link], "back": tuple(reversed(self.links[link]))}
        if not parts:
            return f"{called}, packets" if of else called
        if parts[-1] in ("in", "out") and len(parts) > 1:
            node = self._of(".".join(parts[:-1]))
            return f"{called}, {of}{'out of' if parts[-1] == 'out' else 'into'} {node}"
        if parts[0] in ways and len(parts) == 1 and len(ways[parts[0]]) == len("ab"):
            first, last = map(self._of, ways[parts[0]])
            return f"{called}, {of}from {first} to {last}"
        return self._joined(" ".join(parts).replace("_", " "), link)

    def _of_component(self, component: str, parts: list[str]) -> str:
        """Return `processor time of render`, `processor time of render for each byte`."""
        resource = "processor time" if parts[0] == "cpu" else parts[0].replace("_", " ")
        if parts[0] in _SHARES:
            return self._joined(" ".join(parts).replace("_", " "), component)
        words = self._joined(resource, component)
        return f"{words}, each {parts[1]}" if len(parts) > 1 else words

    def _joined(self, words: str, owner: str) -> str:
        """Return words of an owner: before its name, behind its doc string."""
        if owner in self.docs:
            return f"{_cut(first_sentence(self.docs[owner]), _MOST_LETTERS - len(words))}: {words}"
        kind = "link " if owner in self.links else ""
        return f"{words} of {kind}{self._spaced(owner)}"

    def _owner(self, owner: str, plain: str) -> str:
        return _cut(first_sentence(self.docs[owner]), 32) if owner in self.docs else plain


PLAIN = Labels(
    docs={},
    nodes=frozenset(),
    links={},
    streams=frozenset(),
    components=frozenset(),
    is_plain=True,
)
"""Everything by its identifier."""


def labels_of(model: ir.Model) -> Labels:
    """Return what a model calls things; `model.once(labels_of)` is made once."""
    return Labels(
        docs={name: _line(doc) for name, doc in documented(model) if doc},
        nodes=frozenset(node.name for node in model.nodes),
        links={link.name: link.ends for link in model.links},
        streams=frozenset(stream.name for stream in model.streams),
        components=frozenset(one.name for one in _components(model)),
        kinds=frozenset(one.name for one in model.parameters),
        instances=frozenset(one.name for one in model.instances),
        quality=_joined_needs(model),
    )


def _joined_needs(model: ir.Model) -> tuple[int, tuple[str, ...]] | None:
    """Return how many needs quality joins, of all modes, and those that it does not."""
    if model.quality.metric is ir.Metric.FORMULA:
        return None
    stated = [*model.requirements, *(one for mode in model.modes for one in mode.requirements)]
    left_out = dict.fromkeys(one.name for one in stated if not one.is_axis)
    return len({one.name for one in stated if one.is_axis}), tuple(left_out)


def first_sentence(doc: str) -> str:
    """Return the first sentence of a doc string, without its stop.

    >>> first_sentence("Bytes of a message. Of text alone."), first_sentence("What it costs: much")
    ('Bytes of a message', 'What it costs')
    """
    told = _SENTENCE.split(doc, maxsplit=1)[0].strip().rstrip(".")
    return told.partition(" (")[0] if told.count("(") > told.count(")") else told


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
    yield from ((one.name, one.doc) for one in model.measures)


def _line(doc: str) -> str:
    return printable(" ".join(doc.split()))
