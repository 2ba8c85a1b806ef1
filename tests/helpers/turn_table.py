"""The table of a relay that was measured, which tests of fits share."""

from __future__ import annotations

TURN = """cpu in %,packet/s,byte/s
28.8,8000,1536000
70.2,24000,4608000
31.3,9000,8640000
78.5,27000,25920000
"""
