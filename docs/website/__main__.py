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
parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="where to")
parser.add_argument("--cache", type=Path, default=ROOT / "build" / "live", help="pages made before")
parser.add_argument("--reports", type=int, help="make at most so many live pages (default: all)")
parser.add_argument("--playground", type=Path, help="a built playground, for the home page")
given = parser.parse_args()

live = LivePages(kept=given.cache.resolve(), most=given.reports, root=ROOT)
mistakes = built(ROOT, given.out.resolve(), live, given.playground)
for line in live.told:
    print(f"no live page: {line}")
print(f"{given.out / 'index.html'}: {live.linked} live pages, {live.made} of them made now")
sys.exit("\n".join(mistakes) if mistakes else 0)
