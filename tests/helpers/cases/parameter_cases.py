"""A spec with values by case and kind."""

from __future__ import annotations

from fractions import Fraction

from helpers.specs import PRELUDE
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source

FILM = """
kinds film { I 30; P 29; B 116 }
kinds gop in "IBBPBB"
kinds audience { light 60 %; medium 30 %; heavy 10 % }
param display = { average 12 ms/packet; least 7 ms/packet; largest 15 ms/packet } source "figure 31"
param duo = { average 3 ms/packet; largest 5 ms/packet }
param size by film {
  I { average 20 kB/packet; least 17 kB/packet; largest 33 kB/packet }
  P { average 13 kB/packet; least 9 kB/packet; largest 22 kB/packet }
  B { average 3 kB/packet; least 1 kB/packet; largest 7 kB/packet }
  source "figure 21"
}
param think by audience { light 90 s; medium 30 s; heavy 10 s }
param even by gop { I 6 s; B 3 s; P 0 s }
param doubled = 2 * display
param some by audience { light 2 * display; medium 4 ms/packet
  heavy { average 1 ms/packet; least 1 ms/packet; largest 90 ms/packet }
}
let double = 2 * size
func tripled(x) = 3 * largest(x)
"""
BASE = (
    PRELUDE
    + FILM
    + """
component show { cpu display }
topology {
  node host = box
  node far = box
  link lan = wire between host, far
}
stream flow { traffic N * 1 packet/s, size; at host { }; over lan; at far { show } }
"""
)


MEAN = Fraction(30 * 20 + 29 * 13 + 116 * 3, 175) * 8000


# -- mistakes that need more than a file ------------------------------------------------------


def messages(text: str) -> list[str]:
    return [d.message for d in check_source(Source("s", text)).diagnostics if d.is_error]
