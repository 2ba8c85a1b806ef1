"""What the commands share that write pages and tables: their endings, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from qps.atomic_files import whole_file
from qps.commands.terminal.console import complain


def refuse_other_endings(output: Path) -> None:
    """Refuse a file whose ending promises something else than a page."""
    if output.suffix.lower() not in (".html", ".htm", ""):
        raise complain(
            f"a report is an HTML page, not a {output.suffix[1:].upper()} file",
            f"write `-o {output.with_suffix('.html')}`; to get a PDF, print it from a browser",
        )


def refuse_inputs(output: Path, files: Iterable[Path]) -> None:
    """Refuse to write over what was read: a slip of the keyboard must cost nobody a spec."""
    if any(_is_same(output, file) for file in files):
        raise complain(
            f"`-o {output}` would overwrite the input file",
            "choose another file for `-o`",
        )


def _is_same(output: Path, file: Path) -> bool:
    try:
        return output.samefile(file)
    except OSError:  # one of them is not there
        return False


def write_text(output: Path, text: str) -> None:
    """Write a page or a table, whole or not at all; an error where that cannot be."""
    try:
        with whole_file(output) as file:
            file.write(text.encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise complain(f"cannot write `{output}`: {reason}", "choose another path") from error
