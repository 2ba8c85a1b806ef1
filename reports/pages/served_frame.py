"""What stands around a page that is served: its frame, which requests the latest version."""

from __future__ import annotations

from importlib.resources import files

FRAME = "/"
PAGE = "/page"
STATE = "/state"
_PARTS = {
    FRAME: ("templates/serve.html", "text/html"),
    "/serve.css": ("templates/serve.css", "text/css"),
    "/serve.js": ("scripts/serve.js", "text/javascript"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the frame may load: its own script and style, the page, and which version that is."""


def part_of_frame(path: str) -> tuple[str, str] | None:
    """Return a part of the frame and its type, None for a path that is none."""
    if path not in _PARTS:
        return None
    name, kind = _PARTS[path]
    return files("qps.reports").joinpath(name).read_text(encoding="utf-8"), kind
