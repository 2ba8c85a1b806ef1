"""What is installed only where it is requested, and how to request it.

What is to be installed is named by itself, as the metadata of this installation names it: QPS
stands on no package index, and under its name somebody else's program might.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span

_OF_EXTRA = re.compile(r"""(?P<what>[^;]+?)\s*;\s*extra\s*==\s*["'](?P<extra>[\w-]+)["']\s*""")


def need_arrow(what: str, span: Span | None = None) -> None:
    """Make sure that Arrow is there for matrices and their files; QpsError where it is not."""
    try:
        import pyarrow as pa  # noqa: F401, PLC0415 - 165 MB, for matrices alone
    except ImportError as missing:
        raise _missing(what, "pyarrow", "matrix", span) from missing


def need_scapy(what: str) -> None:
    """Make sure that scapy is there for packet captures; QpsError where it is not."""
    try:
        import scapy  # noqa: F401, PLC0415
    except ImportError as missing:
        raise _missing(what, "scapy", "captures") from missing


def need_opentelemetry(what: str) -> None:
    """Make sure that the messages of OpenTelemetry are there; QpsError where they are not."""
    try:
        import_module("opentelemetry.proto.trace.v1.trace_pb2")
    except ImportError as missing:
        raise _missing(what, "opentelemetry-proto", "traces") from missing


def need_yaml(what: str) -> None:
    """Make sure that PyYAML is there for manifests; QpsError where it is not."""
    try:
        import_module("yaml")
    except ImportError as missing:
        raise _missing(what, "PyYAML", "manifests") from missing


def need_pygls(what: str) -> None:
    """Make sure that pygls is there for a language server; QpsError where it is not."""
    try:
        import pygls  # noqa: F401, PLC0415
    except ImportError as missing:
        raise _missing(what, "pygls", "lsp") from missing


def installing(extra: str, package: str) -> str:
    """Return the command that installs what an extra of QPS takes, which is a package at least.

    >>> installing("matrix", "pyarrow").startswith('pip install "pyarrow')
    True
    """
    found = [_OF_EXTRA.fullmatch(text) for text in _requirements()]
    names = [one["what"] for one in found if one is not None and one["extra"] == extra] or [package]
    return " ".join(["pip install", *(f'"{name}"' for name in names)])


def _requirements() -> list[str]:
    try:
        return requires("qps") or []
    except PackageNotFoundError:  # run from where it was not installed
        return []


def _missing(what: str, package: str, extra: str, span: Span | None = None) -> QpsError:
    return QpsError.single(
        codes.COMMAND_LINE,
        span,
        f"{what} requires {package}, which is not installed",
        hint=f"run `{installing(extra, package)}`",
    )
