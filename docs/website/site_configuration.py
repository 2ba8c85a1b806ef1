"""The configuration of Zensical: which pages there are, and how they look."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from website import gallery, indexes
from website.markdown_text import headings

_TUTORIAL, _LANGUAGE, _COMMANDS = "docs/tutorial.md", "docs/language.md", "docs/cli.md"
_START = ("docs/measuring.md", "docs/report.md", "docs/editors.md")
_GUIDES = ("docs/quality.md", "docs/ci.md")
_CONCEPTS = (
    "docs/network.md",
    "docs/traffic.md",
    "docs/limits.md",
    "docs/compared.md",
    "docs/validation.md",
    "docs/benchmarks.md",
    "docs/security.md",
    "docs/glossary.md",
)
_REFERENCE = ("docs/api.md", "docs/library.md", "docs/methods.md", "docs/rules.md")
_MISTAKES = "compiler/diagnostics/"
_PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")

_Entry = str | tuple[str, Sequence[str]]
"""A page, or pages under a title."""

_TEXT = """\
site_name: QPS
site_description: "Capacity planning as code: capacity, bottleneck, and what to change first"
site_url: ""
use_directory_urls: false
docs_dir: docs
site_dir: site
theme:
  name: material
  language: en
  font: false
  features:
    - content.code.copy
    - navigation.indexes
    - navigation.prune
    - navigation.sections
    - navigation.tabs
    - navigation.top
    - search.highlight
    - toc.follow
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      toggle: {{ icon: lucide/sun, name: Dark }}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      toggle: {{ icon: lucide/moon, name: Light }}
plugins:
  - search
  - offline
extra_css:
  - assets/site.css
extra_javascript:
  - assets/old_addresses.js
  - assets/playground.js
markdown_extensions:
  - admonition
  - attr_list
  - md_in_html
  - tables
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify {{ kwds: {{ case: lower }} }}
  - pymdownx.highlight:
      anchor_linenums: false
  - pymdownx.superfences
nav:
{nav}
"""


def configuration(docs: Path, root: Path) -> str:
    """Return `mkdocs.yml` for the pages below a folder; `root` is that of the repository."""
    listed = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    mistakes = sorted(one for one in listed if one.startswith(_MISTAKES))
    groups: list[tuple[str, list[_Entry]]] = [
        ("Start", ["index.md", *_pages(root, _TUTORIAL), *_START]),
        ("Guides", [indexes.GUIDES, *_guides(root), ("More guides", _GUIDES)]),
        ("Gallery", ["gallery.md", *_specs(root, listed)]),
        ("Concepts", list(_CONCEPTS)),
        (
            "Reference",
            [
                "docs/brief.md",
                ("Language", _pages(root, _LANGUAGE)),
                ("Command line", _pages(root, _COMMANDS)),
                *_REFERENCE,
                ("Errors and warnings", ["docs/errors.md", *mistakes]),
            ],
        ),
    ]
    placed = {page for _, entries in groups for page in _flat(entries)}
    rest = sorted(listed - placed - set(_PROJECT))
    groups.append(("Project", [one for one in [*_PROJECT, *rest] if one in listed]))
    lines: list[str] = []
    for title, entries in groups:
        lines.append(f"  - {title}:")
        for entry in entries:
            if isinstance(entry, str):
                lines.append(f"      - {_listed(docs, entry)}")
            else:
                lines.append(f"      - {json.dumps(entry[0])}:")
                lines += [f"          - {_listed(docs, path)}" for path in entry[1]]
    return _TEXT.format(nav="\n".join(lines))


def _flat(entries: Iterable[_Entry]) -> list[str]:
    return [page for one in entries for page in ([one] if isinstance(one, str) else one[1])]


def _pages(root: Path, index: str) -> list[str]:
    """Return an index with the pages that it lists, in its order, without their headings."""
    folder = posixpath.dirname(index)
    listed = indexes.entries((root / index).read_text(encoding="utf-8"))
    return list(dict.fromkeys([index, *(posixpath.join(folder, one.path) for one in listed)]))


def _guides(root: Path) -> list[_Entry]:
    """Return the guides, group by group, as their index lists them."""
    folder = posixpath.dirname(indexes.GUIDES)
    text = (root / indexes.GUIDES).read_text(encoding="utf-8")
    return [
        (group.title, [posixpath.join(folder, one.path) for one in group.entries])
        for group in indexes.groups(text)
    ]


def _specs(root: Path, listed: Collection[str]) -> list[tuple[str, Sequence[str]]]:
    """Return the specs, group by group, behind the page that their folder has."""
    found = gallery.specs(root)
    groups: list[tuple[str, Sequence[str]]] = []
    for title, page in gallery.GROUPS:
        front = [page] if page in listed else []
        groups.append((title, [*front, *(spec.page for spec in found if spec.group == title)]))
    placed = {path for _, paths in groups for path in paths}
    rest = [one for one in sorted(listed) if one.startswith("specs/") and one not in placed]
    return [*groups, ("More", rest)] if rest else groups


def _listed(docs: Path, path: str) -> str:
    return f"{json.dumps(_title(docs / path))}: {path}"


def _title(path: Path) -> str:
    found = headings(path.read_text(encoding="utf-8"))
    return found[0][1].replace("`", "").replace("\\", "") if found else path.stem
