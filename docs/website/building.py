"""From the repository's pages to the site: laid out, linked, built, and looked over."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from website import gallery, indexes
from website.checking import broken_links
from website.live_pages import LivePages
from website.markdown_text import (
    FENCE,
    headings,
    links,
    moved,
    with_links,
)
from website.page_parts import answer, picture
from website.redirects import write_redirects
from website.site_configuration import configuration

_ASSETS = Path(__file__).parent / "assets"
_FOLDERS = {"specs": "gallery.md", "specs/applications": "gallery.md", "stdlib": "docs/library.md"}
"""Folders that pages link to, and the pages that tell of what is in them."""
_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What Zensical's search loads where pages are opened from a disk."""
_OF_MISTAKES = "compiler/diagnostics/explanations/"
"""Pages whose specs are wrong, so that nobody need be told that they have no live page."""
_API, _RETURNED, _OF_GROUPS = "docs/api.html", "return-types", 2
"""The page of the API, its group of what functions return, and of which level groups are."""
_OF_SEARCH = re.compile(r"(var __index = )?(\{.*\})(;?)\s*", re.DOTALL)
_HOME = "docs/website/home.md"
_PICTURE = re.compile(r"^!\[.*\]\(.*\)$", re.MULTILINE)
_FIRST = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")
_TITLES = {"README.md": "index.md"}


class Page(Struct, frozen=True, kw_only=True):
    """A page of the site: the path and text of its source, and its own path."""

    source: str
    path: str
    text: str


def built(root: Path, out: Path, live: LivePages, playground: Path | None = None) -> list[str]:
    """Build the site, with a playground that was built before; return what is wrong with it."""
    with tempfile.TemporaryDirectory() as name:
        stage = Path(name)
        docs = stage / "docs"
        _stage(root, docs, live, has_playground=playground is not None)
        if playground:
            shutil.copytree(playground, docs / "playground", dirs_exist_ok=True)
        (stage / "mkdocs.yml").write_text(configuration(docs, root), encoding="utf-8")
        built_at = stage / "site"
        done = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"],
            cwd=stage,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return [done.stdout + done.stderr]
        _make_offline(built_at)
        _order_search(built_at)
        write_redirects(root, built_at)
        mistakes = broken_links(built_at)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(built_at, out)
    return mistakes


def _stage(root: Path, docs: Path, live: LivePages, *, has_playground: bool) -> None:
    pages = _pages(root)
    now = _moved(pages)
    for page in pages:
        text = with_links(page.text, lambda t, p=page: moved(t, of=p.source, to=p.path, now=now))
        _write(docs / page.path, _with_live(page.path, text, docs, root, live))
        _copy_linked(root, docs, page)
    lived = dict(_live_specs(root, docs, live))
    found = gallery.specs(root)
    _write(docs / "gallery.md", gallery.cards(found, lived))
    index = docs / "index.md"
    home = _home(root, now, gallery.featured(found, lived), has_playground=has_playground)
    _copy_linked(root, docs, _page(root, _HOME))
    _write(index, _PICTURE.sub(lambda _: home, index.read_text(encoding="utf-8"), count=1))
    for spec in found:
        text = (root / spec.path).read_text(encoding="utf-8")
        _write(docs / spec.page, gallery.page(spec, text, lived.get(spec.path)))
    shutil.copytree(_ASSETS, docs / "assets", ignore=shutil.ignore_patterns("*.html"))
    _write(docs / "llms.txt", _for_programs(root, pages))


def _home(root: Path, now: Mapping[str, str], featured: str, *, has_playground: bool) -> str:
    """Return what the home page has in place of the picture of the README."""
    now = now | {"playground/README.md": "playground/index.html"} if has_playground else now
    text = (root / _HOME).read_text(encoding="utf-8")
    text = with_links(text, lambda target: moved(target, of=_HOME, to="index.md", now=now))
    return text.replace("<!-- featured -->\n", featured)


# -- pages -------------------------------------------------------------------------------


def _pages(root: Path) -> list[Page]:
    """Return the pages: those of the repository, and the Markdown that they link to."""
    own = [*_FIRST, *_relative(root, (root / "docs").rglob("*.md"))]
    own.remove(_HOME)
    own += _relative(root, (root / "specs").rglob("README.md"))
    found = [_page(root, path) for path in own]
    # What these link to of Markdown elsewhere is a page, too.
    waiting, known = list(found), set(own)
    while waiting:
        for target in _targets(root, waiting.pop()):
            if target.endswith(".md") and target not in known:
                known.add(target)
                found.append(_page(root, target))
                waiting.append(found[-1])
    return [*found, *_listings(root, found)]


def _listings(root: Path, pages: Iterable[Page]) -> list[Page]:
    """Return a page for each folder that is linked and has none: its files."""
    folders = {folder for page in pages for folder in _linked(root, page) if folder.is_dir()}
    found = []
    for folder in sorted(folders):
        path = folder.relative_to(root).as_posix()
        if path not in _FOLDERS and not (folder / "README.md").exists():
            files = [one.name for one in sorted(folder.iterdir()) if one.is_file()]
            text = f"# {path}\n\n" + "\n".join(f"- [{name}]({name})" for name in files) + "\n"
            found.append(Page(source=f"{path}/README.md", path=f"{path}/index.md", text=text))
    return found


def _page(root: Path, path: str) -> Page:
    text = (root / path).read_text(encoding="utf-8")
    shown = indexes.cards(text) if path == indexes.GUIDES else text
    return Page(source=path, path=_TITLES.get(path, path), text=shown)


def _relative(root: Path, paths: Iterable[Path]) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in paths)


def _moved(pages: Iterable[Page]) -> dict[str, str]:
    """Return where what is linked stands now: pages, folders, specs."""
    now = {page.source: page.path for page in pages}
    now |= {p.source.rpartition("/")[0]: p.path for p in pages if p.source.endswith("/README.md")}
    root = Path(__file__).parents[2]
    now |= {spec.path: spec.page for spec in gallery.specs(root)}
    now |= _FOLDERS
    return now | {
        path: _shown(path) for page in pages for path in _targets(root, page) if path[0] == "."
    }


def _shown(path: str) -> str:
    """Return where a file stands: Zensical leaves those out whose names begin with a dot."""
    return path.lstrip(".")


# -- files -------------------------------------------------------------------------------


def _linked(root: Path, page: Page) -> list[Path]:
    """Return the files and folders of the repository that a page links to."""
    found = []
    for target in links(page.text):
        if not re.match(r"[a-z]+:|//|#", target):
            path = ((root / page.source).parent / target.partition("#")[0]).resolve()
            if path.is_relative_to(root) and path.exists():
                found.append(path)
    return found


def _targets(root: Path, page: Page) -> list[str]:
    """Return the files of the repository that a page links to."""
    return [p.relative_to(root).as_posix() for p in _linked(root, page) if p.is_file()]


def _copy_linked(root: Path, docs: Path, page: Page) -> None:
    for target in _targets(root, page):
        if not target.endswith(".md"):
            _copy(root / target, docs / _shown(target))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# -- live pages --------------------------------------------------------------------------


def _live_specs(root: Path, docs: Path, live: LivePages) -> Iterable[tuple[str, gallery.Live]]:
    """Yield the specs of the repository that have a live page, which is laid beside the others."""
    for spec in gallery.specs(root):
        made = live.page(root, spec.path, spec.path)
        if made:
            live.linked += 1
            there = gallery.live_path(spec.path)
            _copy(made, docs / there)
            text = made.read_text(encoding="utf-8")
            drawn = picture(text)
            if drawn:
                _write((docs / there).with_suffix(".svg"), drawn)
            yield (
                spec.path,
                gallery.Live(path=there, is_drawn=drawn is not None, answer=answer(text)),
            )


def _with_live(path: str, text: str, docs: Path, root: Path, live: LivePages) -> str:
    """Return the text of the page at a path, with a link to its live page behind each spec."""
    above = "../" * path.count("/")
    parts, last = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "specs").symlink_to(root / "specs")
        fences = [(fence, _file_of(fence, at)) for at, fence in enumerate(FENCE.finditer(text))]
        for fence, file in reversed(fences):  # a spec may come before what it reads
            if file:
                _write(folder / file, fence["body"])
        for number, (fence, file) in enumerate(fences):
            if file:
                _write(folder / file, fence["body"])
            start = fence.start("body") - len(fence["kind"]) - 4
            kind, _, more = fence["kind"].strip().partition(" ")
            title = f' title="{fence["file"]}"' if fence["file"] and not more else ""
            parts += [text[last:start], f"```{kind}{title}\n{fence['body']}```\n"]
            last = fence.end()
            if file and _is_spec(fence):
                name = None if path.startswith(_OF_MISTAKES) else f"{path}, {file}"
                made = live.page(folder, file, name)
                if made:
                    live.linked += 1
                    own = f"live/{Path(path).with_suffix('')}_{number}.html"
                    _copy(made, docs / own)
                    parts.append(f"\n[Live page]({above}{own}){{ .live }}\n")
    return "".join([*parts, text[last:]])


def _file_of(fence: re.Match[str], number: int) -> str | None:
    """Return the file that a fence is: the one that is named, or one of its own for a spec."""
    return fence["file"] or (f"spec_{number}.qps" if _is_spec(fence) else None)


def _is_spec(fence: re.Match[str]) -> bool:
    """Tell whether a fence is a whole spec, no fragment of one."""
    return fence["kind"].strip() == "qps"


# -- what Zensical leaves out --------------------------------------------------------------


def _make_offline(site: Path) -> None:
    """Have pages load from the site itself what Zensical has them load from elsewhere.

    And name the page of a folder, as only servers find it by that of the folder.
    """
    for path in site.rglob("*.html"):
        if not path.is_relative_to(site / "live"):
            above = "../" * len(path.relative_to(site).parent.parts)
            text = path.read_text(encoding="utf-8")
            own = text.replace(_SHIM, f"{above}assets/iframe-worker.js")
            own = re.sub(r'href="((?:\./)?\.\.(?:/\.\.)*|\.)/?"', r'href="\1/index.html"', own)
            path.write_text(own, encoding="utf-8")


def _order_search(site: Path) -> None:
    """Have the search know what the API returns by names alone, not by their attributes.

    Each of a hundred types has a `price` or a `cost`: they stood before the page that tells how
    it is asked. Zensical has no weights of pages (0.0.73): it knows or does not know a section.
    """
    for path in (site / "search.json", site / "search.js"):
        read = _OF_SEARCH.fullmatch(path.read_text(encoding="utf-8"))
        assert read is not None, path
        before, index, behind = read.groups(default="")
        found = json.loads(index)
        is_returned = False
        for item in found["items"]:
            page, _, heading = item["location"].partition("#")
            if page == _API and item["level"] <= _OF_GROUPS:
                is_returned = heading == _RETURNED
            elif page == _API and is_returned:
                item["text"] = ""
        path.write_text(f"{before}{json.dumps(found, ensure_ascii=False)}{behind}", "utf-8")


def _for_programs(root: Path, pages: Iterable[Page]) -> str:
    """Return `llms.txt`: the language on one page, and where the rest stands."""
    brief = (root / "docs" / "brief.md").read_text(encoding="utf-8")
    listed = [
        f"- [{heading}]({page.path.removesuffix('.md')}.html)"
        for page in pages
        for _, heading in headings(page.text)[:1]
    ]
    return "\n".join([brief.rstrip(), "", "## All pages", "", *listed, ""])
