"""What the commands share that write pages and tables: their endings, and how they are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from qps.atomic_files import whole_file
from qps.commands.terminal.console import complain
from qps.links import resolved_path


def refuse_other_endings(output: Path) -> None:
    """Refuse a file whose ending promises something else than a page."""
    if output.suffix.lower() not in (".html", ".htm", ""):
        raise complain(
            f"a report is an HTML page, not a {output.suffix[1:].upper()} file",
            f"write `-o {output.with_suffix('.html')}`; to get a PDF, print it from a browser",
        )


def refuse_inputs(output: Path, files: Iterable[Path], flag: str = "-o") -> None:
    """Refuse to write over what was read: a slip of the keyboard must cost nobody a spec."""
    if any(_is_same(output, file) for file in files):
        raise complain(
            f"`{flag} {output}` would overwrite the input file",
            f"choose another file for `{flag}`",
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


def with_ends_of(content: bytes, text: str) -> bytes:
    """Return a text with lines that end as the first one of a file does: git may have put it so."""
    laid_out = text.encode()
    is_of_windows = content.partition(b"\n")[0].endswith(b"\r") and b"\n" in content
    return laid_out.replace(b"\n", b"\r\n") if is_of_windows else laid_out


def replace_file(path: Path, content: bytes) -> None:
    """Put a content in the place of a file, whole or not at all; its permissions stay."""
    target = resolved_path(path)  # a link stays one
    try:
        mode = target.stat().st_mode
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise complain(
            f"cannot write `{path}`: {error.strerror or error}",
            "the file is unchanged; check permissions and disk space",
        ) from error
