"""`python docs/website [--out FOLDER] [--reports N] [--playground FOLDER]` builds the site."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "src")]

from website.building import built  # found only now
from website.live_pages import LivePages

parser = argparse.ArgumentParser(prog="python docs/website", description=__doc__)
parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="output folder")
parser.add_argument(
    "--cache", type=Path, default=ROOT / "build" / "live", help="cache of live pages"
)
parser.add_argument("--reports", type=int, help="maximum number of live pages (default: all)")
parser.add_argument("--playground", type=Path, help="built playground to embed in the home page")
given = parser.parse_args()

live = LivePages(kept=given.cache.resolve(), most=given.reports, root=ROOT)
mistakes = built(ROOT, given.out.resolve(), live, given.playground)
for line in live.told:
    print(f"no live page: {line}")
print(f"{given.out / 'index.html'}: {live.linked} live pages, {live.made} newly generated")
sys.exit("\n".join(mistakes) if mistakes else 0)
