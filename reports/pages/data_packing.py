"""The data of a page, packed: deflated, as its records say much again, and as plain letters.

No text of a spec can end the element that holds it, and `scripts/common/data.js` unpacks it.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode, b64encode
from typing import Any

from qps.reports.pages.json_values import Json

_ELEMENT = re.compile(r'<script type="text/plain" id="model">([^<]*)</script>')


def packed(value: Json) -> str:
    """Return a value as letters of base64: its JSON, deflated."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def data_in(page: str) -> Any:
    """Return what the scripts of a page work on, from its HTML; LookupError for another text.

    >>> data_in(f'<script type="text/plain" id="model">{packed([1, "<"])}</script>')
    [1, '<']
    """
    found = _ELEMENT.search(page)
    if not found:
        raise LookupError("the text is no page of ours")
    return json.loads(zlib.decompress(b64decode(found[1])))
