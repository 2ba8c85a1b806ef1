"""What Zensical is told: which pages there are, and how they look."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from website import gallery, recipes
from website.markdown_text import headings

_START = ("docs/tutorial.md", "docs/editors.md")
_WRITE = ("docs/brief.md", "docs/language.md", "docs/library.md", "docs/errors.md")
_USE = (
    "docs/cli.md",
    "docs/report.md",
    "docs/measuring.md",
    "docs/traffic.md",
    "docs/ci.md",
    "docs/rules.md",
)
_TRUST = ("docs/compared.md", "docs/limits.md", "docs/quality.md", "docs/security.md")
_MISTAKES = "compiler/diagnostics/"
_ELSEWHERE = ("docs/cookbook", "specs/", _MISTAKES)
"""Pages that stand in a group by their folder."""

_TEXT = """\
site_name: QPS
site_description: How many users will it carry, what gives out first, and what would help?
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
    told = {"index.md", "gallery.md", "docs/api.md", *_START, *_WRITE, *_USE, *_TRUST}
    others = sorted(one for one in listed - told if not one.startswith(_ELSEWHERE))
    mistakes = sorted(one for one in listed if one.startswith(_MISTAKES))
    groups: list[tuple[str, Sequence[str | tuple[str, Sequence[str]]]]] = [
        ("Start", ["index.md", *_START]),
        ("Cookbook", [recipes.FRONT, *_recipes(root)]),
        ("Gallery", ["gallery.md", *_specs(root, listed)]),
        ("Language", [*_WRITE, ("Each diagnostic", mistakes)]),
        ("Use", list(_USE)),
        ("API", ["docs/api.md"]),
        ("Trust", list(_TRUST)),
        ("Project", others),
    ]
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


def _recipes(root: Path) -> list[tuple[str, Sequence[str]]]:
    """Return the recipes, group by group, as the cookbook lists them."""
    text = (root / "docs" / "cookbook.md").read_text(encoding="utf-8")
    return [
        (one.title, [recipes.path_of(entry.slug) for entry in one.entries])
        for one in recipes.groups(text)
    ]


def _specs(root: Path, listed: Collection[str]) -> list[tuple[str, Sequence[str]]]:
    """Return the specs, group by group, behind the page that their folder has."""
    found = gallery.specs(root)
    groups: list[tuple[str, Sequence[str]]] = []
    for folder, title in gallery.GROUPS:
        front = [path for path in listed if path == f"{folder}/README.md"]
        groups.append((title, [*front, *(spec.page for spec in found if spec.group == folder)]))
    placed = {path for _, paths in groups for path in paths}
    rest = [one for one in sorted(listed) if one.startswith("specs/") and one not in placed]
    return [*groups, ("Beside them", rest)] if rest else groups


def _listed(docs: Path, path: str) -> str:
    return f"{json.dumps(_title(docs / path))}: {path}"


def _title(path: Path) -> str:
    found = headings(path.read_text(encoding="utf-8"))
    return found[0][1].replace("`", "").replace("\\", "") if found else path.stem
