"""The gallery: every spec with its question, its answer, its picture and its live page."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

GROUPS = (
    ("specs/applications", "Applications as people run them"),
    ("specs", "Published systems, held against what was measured"),
    ("specs/textbook", "Networks of textbooks"),
)


class Spec(Struct, frozen=True, kw_only=True):
    """A spec of the repository: its path from the root, and what it says of itself."""

    path: str
    question: str
    rest: str
    told: str

    @property
    def name(self) -> str:
        """Its name, without the ending."""
        return Path(self.path).stem

    @property
    def group(self) -> str:
        """The folder that it stands in."""
        return str(Path(self.path).parent)

    @property
    def page(self) -> str:
        """The path of its page."""
        return self.path.removesuffix(".qps") + ".md"

    @property
    def answer(self) -> str:
        """What the list of specs tells as its answer, or it does itself, else nothing."""
        found = re.search(r"(?:^|\n\n)Answer: (.*?)(?:\n\n|\Z)", self.rest, re.DOTALL)
        return self.told or (" ".join(found[1].split()) if found else "")


class Live(Struct, frozen=True, kw_only=True):
    """The live page of a spec, whether a picture of it stands beside it, and its answer."""

    path: str
    is_drawn: bool
    answer: str

    @property
    def picture(self) -> str:
        """The path of the picture."""
        return self.path.removesuffix(".html") + ".svg"


def specs(root: Path) -> list[Spec]:
    """Return the specs of the repository, group by group."""
    paths = [path for group, _ in GROUPS for path in sorted((root / group).glob("*.qps"))]
    told = _told(root / "specs" / "applications" / "README.md")
    return [_spec(root, path, told.get(path.name, "")) for path in paths]


def _told(page: Path) -> dict[str, str]:
    """Return the answers that the list of applications tells, by the file of the spec."""
    rows = re.findall(
        r"^\| \[(\w+\.qps)\]\([^)]*\) \|[^|]*\| ([^|]*) \|", page.read_text("utf-8"), re.MULTILINE
    )
    return dict(rows)


def _spec(root: Path, path: Path, told: str) -> Spec:
    doc = re.match(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)
    said = doc[1].strip() if doc else path.stem
    first, _, rest = said.partition("\n\n")
    return Spec(
        path=path.relative_to(root).as_posix(),
        question=" ".join(first.split()),
        rest=rest,
        told=told,
    )


def cards(found: Sequence[Spec], lived: Mapping[str, Live]) -> str:
    """Return the page of the gallery; `lived` are the live pages of specs, by their path."""
    parts = ["# Gallery", "", "Every spec of the repository: what is asked, what QPS answers."]
    for group, title in GROUPS:
        parts += ["", f"## {title}", "", '<div class="grid cards" markdown>', ""]
        for spec in found:
            if spec.group == group:
                parts += [_card(spec, lived.get(spec.path)), ""]
        parts.append("</div>")
    return "\n".join(parts) + "\n"


def _card(spec: Spec, live: Live | None) -> str:
    lines = [f"-   **[{_plain(spec.question)}]({spec.page})**", ""]
    if live and live.is_drawn:
        lines += [f"    [![A picture of {spec.name}]({live.picture})]({spec.page})", ""]
    told = spec.answer or (live.answer if live else "")
    if told:
        lines += [f"    {_plain(told)}", ""]
    link = f" · [live page]({live.path})" if live else ""
    return "\n".join([*lines, f"    `{spec.name}`{link}"])


def page(spec: Spec, text: str, live: Live | None) -> str:
    """Return the page of a spec."""
    above = "../" * len(Path(spec.path).parent.parts)
    parts = [f"# {_plain(spec.question)}", ""]
    if live:
        parts += [f"[Open its live page]({above}{live.path}){{ .md-button }}", ""]
    if live and live.is_drawn:
        shown = f"![A picture of {spec.name}]({above}{live.picture})"
        parts += [f"[{shown}]({above}{live.path})", ""]
    parts += [_plain(spec.rest), ""] if spec.rest else []
    parts += [f"`qps solve {spec.path}`", "", "```qps", text.rstrip(), "```", ""]
    return "\n".join(parts)


def live_path(path: str) -> str:
    """Return where the live page of a spec of the repository stands."""
    return f"live/{path.removesuffix('.qps')}.html"


def _plain(text: str) -> str:
    """Return a text of a spec as Markdown that says the same."""
    return re.sub(r"([*_<\[\]|])", r"\\\1", html.unescape(text))
