"""What Zensical is told: which pages there are, and how they look."""

from __future__ import annotations

import json
from pathlib import Path

from website.markdown_text import headings

_START = ("docs/tutorial.md", "docs/editors.md")
_WRITE = ("docs/brief.md", "docs/language.md", "docs/library.md", "docs/errors.md")
_USE = ("docs/cli.md", "docs/report.md", "docs/measuring.md", "docs/traffic.md", "docs/ci.md")
_TRUST = ("docs/compared.md", "docs/limits.md", "docs/quality.md")

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


def configuration(docs: Path) -> str:
    """Return `mkdocs.yml` for the pages below a folder."""
    recipes = sorted((docs / "docs" / "cookbook").glob("*.md"), key=_title)
    recipes = [path for path in recipes if path.name != "index.md"]
    listed = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    told = {"index.md", "gallery.md", "docs/api.md", *_START, *_WRITE, *_USE, *_TRUST}
    others = sorted(one for one in listed - told if not one.startswith(("docs/cookbook", "specs/")))
    tables = sorted(one for one in listed if one.startswith("specs/") and one.endswith("README.md"))
    each = sorted(
        one for one in listed if one.startswith("specs/") and not one.endswith("README.md")
    )
    groups = [
        ("Start", ["index.md", *_START]),
        (
            "Cookbook",
            ["docs/cookbook/index.md", *(p.relative_to(docs).as_posix() for p in recipes)],
        ),
        ("Gallery", ["gallery.md", *tables, *each]),
        ("Language", list(_WRITE)),
        ("Use", list(_USE)),
        ("API", ["docs/api.md"]),
        ("Trust", list(_TRUST)),
        ("Project", others),
    ]
    lines: list[str] = []
    for title, paths in groups:
        lines.append(f"  - {title}:")
        lines += [f"      - {json.dumps(_title(docs / path))}: {path}" for path in paths]
    return _TEXT.format(nav="\n".join(lines))


def _title(path: Path) -> str:
    found = headings(path.read_text(encoding="utf-8"))
    return found[0][1].replace("`", "").replace("\\", "") if found else path.stem
