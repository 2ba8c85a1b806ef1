"""The gallery: every spec with its question, its answer, its picture and its live page."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

TODAY, PAPERS, TEXTBOOKS = "Today's applications", "Systems from papers", "Textbook networks"
GROUPS = (
    (TODAY, "specs/applications/README.md"),
    (PAPERS, "specs/README.md"),
    (TEXTBOOKS, "specs/textbook/README.md"),
)
"""The groups of the gallery, each with the page that its folder has."""
SPECS = ("specs/applications/*.qps", "specs/*.qps", "specs/textbook/*/*.qps")
"""The files of the specs, as patterns."""
FEATURED = ("kafka", "kubernetes", "llm", "shop", "sfu", "chat")
"""Specs that the home page shows, and that the gallery begins with."""
_TODAYS = re.compile(r"^## Today's applications\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)


class GallerySpec(Struct, frozen=True, kw_only=True):
    """A spec of the repository: its path from the root, and what it says of itself."""

    path: str
    question: str
    rest: str
    told: str
    group: str

    @property
    def name(self) -> str:
        """Its name, without the ending."""
        return Path(self.path).stem

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


def specs(root: Path) -> list[GallerySpec]:
    """Return the specs of the repository, group by group."""
    paths = [path for pattern in SPECS for path in sorted(root.glob(pattern))]
    told = _told(root / "specs" / "applications" / "README.md")
    listed = _TODAYS.search((root / "specs" / "README.md").read_text(encoding="utf-8"))
    todays = set(re.findall(r"\]\((\w+\.qps)\)", listed[1] if listed else ""))
    found = [_spec(root, path, told.get(path.name, ""), todays) for path in paths]
    return sorted(found, key=_order)


def _order(spec: GallerySpec) -> tuple[int, int]:
    """Return where a spec stands: by its group, in this the featured ones first."""
    featured = FEATURED.index(spec.name) if spec.name in FEATURED else len(FEATURED)
    return [title for title, _ in GROUPS].index(spec.group), featured


def _told(page: Path) -> dict[str, str]:
    """Return the answers that the list of applications tells, by the file of the spec."""
    rows = re.findall(
        r"^\| \[(\w+\.qps)\]\([^)]*\) \|[^|]*\| ([^|]*) \|", page.read_text("utf-8"), re.MULTILINE
    )
    return dict(rows)


def _spec(root: Path, path: Path, told: str, todays: Collection[str]) -> GallerySpec:
    doc = re.match(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)
    said = doc[1].strip() if doc else path.stem
    first, _, rest = said.partition("\n\n")
    return GallerySpec(
        path=path.relative_to(root).as_posix(),
        question=" ".join(first.split()),
        rest=rest,
        told=told,
        group=_group(path, todays),
    )


def _group(path: Path, todays: Collection[str]) -> str:
    if path.parent.parent.name == "textbook":
        return TEXTBOOKS
    return TODAY if path.parent.name == "applications" or path.name in todays else PAPERS


def cards(found: Sequence[GallerySpec], lived: Mapping[str, Live]) -> str:
    """Return the page of the gallery; `lived` are the live pages of specs, by their path."""
    parts = ["# Gallery", "", "All specs in the repository, each with its question and answer."]
    for title, _ in GROUPS:
        parts += ["", f"## {title}", ""]
        parts.append(_grid([spec for spec in found if spec.group == title], lived))
    return "\n".join(parts) + "\n"


def featured(found: Sequence[GallerySpec], lived: Mapping[str, Live]) -> str:
    """Return the cards of the home page."""
    chosen = [spec for spec in found if spec.name in FEATURED]
    return _grid(chosen, lived, are_linked=False) + "\n\n[All specs](gallery.md)\n"


def _grid(
    found: Sequence[GallerySpec], lived: Mapping[str, Live], *, are_linked: bool = True
) -> str:
    each = [f"{_card(spec, lived.get(spec.path), is_linked=are_linked)}\n" for spec in found]
    return "\n".join(['<div class="grid cards" markdown>', "", *each, "</div>"])


def _card(spec: GallerySpec, live: Live | None, *, is_linked: bool) -> str:
    lines = [f"-   **[{_plain(spec.question)}]({spec.page})**", ""]
    if live and live.is_drawn:
        lines += [f"    [![Chart for {spec.name}]({live.picture})]({spec.page})", ""]
    told = spec.answer or (live.answer if live else "")
    if told:
        lines += [f"    {_plain(told)}", ""]
    link = f" · [live page]({live.path})" if live and is_linked else ""
    return "\n".join([*lines, f"    `{spec.name}`{link}"])


def page(spec: GallerySpec, text: str, live: Live | None) -> str:
    """Return the page of a spec."""
    above = "../" * len(Path(spec.path).parent.parts)
    parts = [f"# {_plain(spec.question)}", ""]
    if live:
        parts += [f"[Open the live page]({above}{live.path}){{ .md-button }}", ""]
    if live and live.is_drawn:
        shown = f"![Chart for {spec.name}]({above}{live.picture})"
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
