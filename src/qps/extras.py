"""What is installed only where it is asked for, and how to ask for it."""

from __future__ import annotations

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span


def need_arrow(what: str, span: Span | None = None) -> None:
    """Make sure that Arrow is there for matrices and their files; QpsError where it is not."""
    try:
        import pyarrow as pa  # noqa: F401, PLC0415 - 165 MB, for matrices alone
    except ImportError as missing:
        raise QpsError.single(
            codes.COMMAND_LINE,
            span,
            f"{what} needs pyarrow, which is not installed",
            hint="`pip install 'qps[matrix]'`",
        ) from missing


def need_scapy(what: str) -> None:
    """Make sure that scapy is there for packet captures; QpsError where it is not."""
    try:
        import scapy  # noqa: F401, PLC0415
    except ImportError as missing:
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            f"{what} needs scapy, which is not installed",
            hint="`pip install 'qps[captures]'`",
        ) from missing


def need_pygls(what: str) -> None:
    """Make sure that pygls is there for a language server; QpsError where it is not."""
    try:
        import pygls  # noqa: F401, PLC0415
    except ImportError as missing:
        raise QpsError.single(
            codes.COMMAND_LINE,
            None,
            f"{what} needs pygls, which is not installed",
            hint="`pip install 'qps[lsp]'`",
        ) from missing
