"""The site of the documentation: whole, linked, live, and searched without a server."""

from __future__ import annotations

import json
import posixpath
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from browsers.browser import CHROMIUM, LONGEST, MISSING, SharedBrowser
from website import indexes
from website.building import built
from website.checking import broken_links
from website.gallery import FEATURED, SPECS
from website.live_pages import LivePages
from website.markdown_text import headings, moved, sections, slug
from website.page_parts import answer, picture

ROOT = Path(__file__).parents[2]


STUB = """<style>:root { --ink: #111 } p { margin: 0 } .chart text { fill: var(--ink) }
@media print { .chart text { fill: red } }</style>
<figure class="picture" id="picture-loads"><svg class="chart" xmlns="http://www.w3.org/2000/svg"
><text>1&nbsp;%</text></svg></figure>
<p class="many">1 <b>user</b></p><dt>limited by</dt><dd>load 1&nbsp;%; 2 with 2</dd>"""


class OneLivePage(LivePages):
    """Makes one live page, and for all other specs what stands for theirs."""

    def _make(self, folder: Path, file: str, stored: Path) -> str:
        if self.made == 1:
            return super()._make(folder, file, stored)
        stored.write_text(STUB, encoding="utf-8")
        return ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with one live page, that of the first spec of the README."""
    folder = tmp_path_factory.mktemp("site")
    live = OneLivePage(kept=folder / "live", most=None, root=ROOT)
    playground = folder / "playground"
    playground.mkdir()
    (playground / "index.html").write_text("<p>a playground</p>", encoding="utf-8")
    assert built(ROOT, folder / "site", live, playground) == []
    assert live.linked > 150
    assert live.told == []
    return folder / "site"


def test_every_guide_is_in_a_group() -> None:
    listed = indexes.groups((ROOT / indexes.GUIDES).read_text("utf-8"))
    docs = ROOT / "docs"
    guides = {path.relative_to(docs).as_posix() for path in docs.glob("guides/*/*.md")}
    assert not list(docs.glob("guides/*.md"))
    assert {entry.path for group in listed for entry in group.entries} == guides


def test_every_guide_is_a_card_and_its_old_address_leads_to_it(site: Path) -> None:
    listed = indexes.groups((ROOT / indexes.GUIDES).read_text("utf-8"))
    front = (site / "docs" / "cookbook.html").read_text("utf-8")
    entries = [entry for group in listed for entry in group.entries]
    assert [group.title for group in listed] == re.findall(r"<h2[^>]*>([^<]*)", front)[
        : len(listed)
    ]
    for entry in entries:
        assert entry.about in unescape(front)
        for anchor in entry.anchors:
            old = site / "docs" / "cookbook" / f"{re.sub('-+', '-', anchor)}.html"
            assert f'href="../{entry.path.removesuffix(".md")}.html"' in old.read_text("utf-8")


def test_a_group_of_guides_is_a_folder() -> None:
    listed = indexes.groups((ROOT / indexes.GUIDES).read_text("utf-8"))
    folders = [{posixpath.dirname(entry.path) for entry in group.entries} for group in listed]
    assert all(len(found) == 1 for found in folders)
    assert len(set.union(*folders)) == len(listed)


ADDRESSES = ROOT / "tests" / "goldens" / "site_addresses.txt"
"""Addresses that pages of the site had before they moved. Only ever grows."""


def test_every_address_of_a_page_that_moved_leads_to_it(site: Path) -> None:
    addresses = ADDRESSES.read_text(encoding="utf-8").split()
    for old in addresses:
        text = (site / old).read_text("utf-8")
        found = re.search(r'<a href="([^"]+)">This page has moved', text)
        assert found, old
        target = site / posixpath.normpath(posixpath.join(posixpath.dirname(old), found[1]))
        assert target.name == posixpath.basename(old)
        assert "This page has moved" not in target.read_text("utf-8")


REMOVED = {
    "exercise": "Write your own spec",
    "networks": "Write your own spec",
    "queueing-delay": "Latency and utilization limits",
}
"""Pages of the tutorial that became part of others, and the titles of these. Only ever grows."""


@pytest.mark.parametrize("page", REMOVED)
def test_the_address_of_a_page_that_became_part_of_another_leads_to_it(
    page: str, site: Path
) -> None:
    old = site / "docs" / "tutorial" / f"{page}.html"
    found = re.search(r'<a href="([^"]+)">This page has moved', old.read_text("utf-8"))
    assert found
    assert f"<title>{REMOVED[page]}" in (old.parent / found[1]).read_text("utf-8")


@pytest.mark.parametrize("index", ["docs/tutorial.md", "docs/language.md", "docs/cli.md"])
def test_an_index_lists_every_page_of_its_folder(index: str) -> None:
    page = ROOT / index
    listed = {page.parent / entry.path for entry in indexes.entries(page.read_text("utf-8"))}
    assert set(page.with_suffix("").glob("*.md")) <= listed


def test_every_spec_is_in_the_gallery_with_its_picture(site: Path) -> None:
    text = (site / "gallery.html").read_text("utf-8")
    specs = {path.stem for pattern in SPECS for path in ROOT.glob(pattern)}
    assert len(specs) > 60
    assert specs <= set(re.findall(r'href="specs/(?:\w+/)*(\w+)\.html"', text))
    drawn = re.findall(r'src="(live/specs/(?:\w+/)*(\w+)\.svg)"', text)
    assert {name for _, name in drawn} == specs
    assert all((site / path).exists() for path, _ in drawn)


def test_the_home_page_has_the_playground_and_the_applications_of_today(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    assert (site / "playground" / "index.html").exists()
    assert 'href="playground/index.html"' in text
    shown = re.findall(r'href="specs/(?:\w+/)*(\w+)\.html"><img', text)
    assert tuple(shown) == FEATURED
    gallery = (site / "gallery.html").read_text("utf-8")
    cards = re.findall(r'href="specs/(?:\w+/)*(\w+)\.html"><img', gallery)
    assert tuple(cards[: len(FEATURED)]) == FEATURED


def test_a_picture_stands_by_itself(site: Path) -> None:
    page = next(site.glob("live/index_*.html")).read_text("utf-8")
    for text in (STUB, page):
        drawn = picture(text)
        assert drawn is not None
        assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
        assert set(re.findall(r"var\((--[\w-]+)\)", drawn)) <= set(
            re.findall(r"(--[\w-]+):", drawn)
        )
        assert "margin" not in drawn
        assert "@media" not in drawn
    assert picture("<p>no charts</p>") is None


def test_a_card_shows_the_answer_of_the_live_page(site: Path) -> None:
    text = "1 user; limited by load 1 %"
    assert (answer(STUB), answer("<p>no answer</p>")) == (text, "")
    assert text in (site / "gallery.html").read_text("utf-8")


def test_a_spec_has_its_live_page_one_click_away(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    found = re.search(r'href="(live/[^"]+)"', text)
    assert found
    assert "<script" in (site / found[1]).read_text("utf-8")
    assert '<span class="kd">machine</span>' in text  # by the lexer


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_search_needs_no_server(site: Path, shared_browser: SharedBrowser) -> None:
    page = shared_browser.context(scripts=True).new_page()
    options: list[str] = []
    page.on("request", lambda request: options.append(request.url))
    page.goto((site / "docs" / "errors.html").as_uri())
    page.wait_for_load_state("load")
    page.keyboard.press("/")
    page.locator("input:visible").first.wait_for(timeout=LONGEST)
    page.keyboard.type("connection pool")
    found = page.locator("a:visible", has_text="Size a database connection pool")
    found.first.click(timeout=LONGEST)
    page.wait_for_url("**/size-a-connection-pool.html*")
    assert [url for url in options if url.startswith("http")] == []
    page.close()


def test_a_search_finds_what_the_api_returns_by_its_names_alone(site: Path) -> None:
    found = json.loads((site / "search.json").read_text("utf-8"))
    texts = {one["location"]: one["text"] for one in found["items"]}
    assert texts["docs/api.html#adviceview"] == ""
    assert "advice" in texts["docs/api.html#solve"]
    offline = (site / "search.js").read_text("utf-8")
    assert json.loads(offline.partition("=")[2].rstrip(";")) == found


def test_programs_find_the_language_on_one_page(site: Path) -> None:
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith("# The language on one page")
    assert "docs/language.html" in text


def test_what_is_wrong_with_a_site_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">A</h1><a href="#here">x</a><a href="#there">y</a><a href="b.html">z</a>'
        '<script src="https://example.com/x.js"></script>'
    )
    assert [line.partition(": ")[2] for line in broken_links(tmp_path)] == [
        "loads https://example.com/x.js",
        "broken link to #there: no such anchor",
        "broken link to b.html: no such file",
    ]


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("#a-recipe", "a-recipe.md"),
        ("cookbook.md#a-part", "a-recipe.md#a-part"),
        ("language.md#keywords", "../language.md#keywords"),
        ("../specs/sfu.qps", "../../specs/sfu.md"),
        ("https://example.com/#a-recipe", "https://example.com/#a-recipe"),
    ],
)
def test_links_follow_what_moves(target: str, written: str) -> None:
    now = {
        "docs/cookbook.md#a-recipe": "docs/cookbook/a-recipe.md",
        "docs/cookbook.md#a-part": "docs/cookbook/a-recipe.md#a-part",
        "specs/sfu.qps": "specs/sfu.md",
    }
    result = moved(target, of="docs/cookbook.md", to="docs/cookbook/other.md", now=now)
    assert result == written


def test_what_is_in_fences_is_no_heading() -> None:
    text = "# A\n\n```sh\n## no\n```\n\n## B: 95 % of it?\n\nx\n"
    assert headings(text) == [(1, "A"), (2, "B: 95 % of it?")]
    first, (section,) = sections(text)
    assert first + section.text == text
    assert slug(section.heading) == section.slug == "b-95--of-it"
