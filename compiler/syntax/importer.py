"""Where texts come from: files beside the spec, and the standard library. Nowhere else."""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, field

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Outcome, Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.diagnostics.suggest import closest, did_you_mean, shortened
from qps.compiler.project.tree_links import is_in_its_tree
from qps.compiler.syntax import ast
from qps.links import real_path, resolved_path
from qps.stdlib import module_names, module_text

_LARGEST_FILE = 8_000_000
_LARGEST_TABLE = 100_000_000
"""Of a table that somebody names himself: it comes from no stranger."""


def read_spec(path: Path) -> Outcome[Source]:
    """Read a spec that was named on the command line; it may use what lies in its project.

    Where it is named by a link, or found by one, that may not lead out of its project either.
    """
    sink = Sink()
    if not is_in_its_tree(path, sink):
        return sink.outcome(None)
    text = _read(path, None, sink, str(path))
    if text is None:
        return sink.outcome(None)
    own = resolved_path(path)
    return sink.outcome(Source(str(path), text, own.parent, own))


def read_data(path: Path) -> Outcome[str]:
    """Read a table that was named on the command line."""
    sink = Sink()
    text = _read(path, None, sink, str(path), suffix=".csv", largest=_LARGEST_TABLE)
    return sink.outcome(text)


class Importer(Struct, frozen=True, eq=False, kw_only=True):
    """Reads modules of the standard library and files below a folder, links followed.

    That `root` is the folder of the spec, or what the project that it lies in says.
    `named` are the files that were named so far, with the checksums of what was read: no command
    may write over them. `open_texts` are what editors hold of files, by their real paths: that is
    read instead of what is saved.
    """

    root: Path | None
    of_what: str = "the folder of the spec"
    named: dict[Path, str] = field(default_factory=dict)
    open_texts: Mapping[Path, str] = {}

    def open(self, module: ast.Name | ast.Text, importing: Source) -> Outcome[Source]:
        """Return the source of `std.…` or of a `.qps` file."""
        if isinstance(module, ast.Text):
            return self._open_file(module, importing)
        sink = Sink()
        names = module_names()
        if module.parts[0] != "std" or module.text not in names:
            sink.report(
                codes.UNKNOWN_MODULE,
                module.span,
                f"the standard library has no module `{module.text}`",
                hint=did_you_mean(module.text, names)
                if module.parts[0] == "std"
                else f'put the name of your own file in quotes: `use "{module.parts[0]}.qps"`',
            )
            return sink.outcome(None)
        return sink.outcome(_of_library(module.text))

    def data(self, file: ast.Text, importing: Source) -> Outcome[str]:
        """Return the text of a file beside the spec."""
        sink = Sink()
        path = self._inside(file, importing, sink)
        if path is None:
            return sink.outcome(None)
        text = _read(path, file.span, sink, file.value, suffix=".csv")
        self.named[path] = checksum(text or "")
        return sink.outcome(text)

    def _open_file(self, module: ast.Text, importing: Source) -> Outcome[Source]:
        sink = Sink()
        path = self._inside(module, importing, sink)
        if path is None:
            return sink.outcome(None)
        text = self.open_texts.get(path)
        if text is None:
            text = _read(path, module.span, sink, module.value)
        if text is None:
            return sink.outcome(None)
        self.named[path] = checksum(text)
        # From real path to real path: one file has one label, by whatever way it is named.
        assert importing.folder is not None
        way = os.path.relpath(path, importing.folder)
        label = os.path.normpath(Path(importing.label).parent / way)
        return sink.outcome(Source(label, text, path.parent, path))

    def _inside(self, file: ast.Text, importing: Source, sink: Sink) -> Path | None:
        """Return the real path of a named file; it must lie below the spec's folder."""
        if self.root is None or importing.folder is None:
            sink.report(
                codes.OUTSIDE_FOLDER,
                file.span,
                "a spec that is not a file cannot use other files",
                hint="save it as a file next to the used file",
            )
            return None
        if "\0" in file.value or not file.value.strip():
            sink.report(
                codes.UNKNOWN_MODULE,
                file.span,
                "the file name is empty",
                hint='name a file, such as `use "hardware.qps" as hw`',
            )
            return None
        path = real_path(importing.folder / file.value)
        if path is None:
            sink.report(
                codes.UNREADABLE,
                file.span,
                f"`{shortened(file.value)}` is a circular symbolic link",
                hint="name the target file",
            )
            return None
        if not path.is_relative_to(resolved_path(self.root)):
            sink.report(
                codes.OUTSIDE_FOLDER,
                file.span,
                f"`{shortened(file.value)}` is outside {self.of_what}",
                hint=_HOW_FAR,
            )
            return None
        self.named[path] = ""
        return path


_HOW_FAR = (
    "move the file into the folder of the spec, or add a `qps.toml` in a common parent folder"
)


@cache
def _of_library(name: str) -> Source:
    """Return a module of the standard library: one source, whoever uses it."""
    return Source(name, module_text(name))


def checksum(text: str) -> str:
    """Return what distinguishes a text from all others."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(
    path: Path,
    span: Span | None,
    sink: Sink,
    shown: str,
    *,
    suffix: str = ".qps",
    largest: int = _LARGEST_FILE,
) -> str | None:
    """Return the text of a file, or report why it cannot be read."""
    shown = shortened(shown)

    def fail(code: Code, message: str, hint: str | None = None) -> None:
        sink.report(code, span, message, hint=hint)

    try:
        if not path.is_file():
            kind = "is a folder" if path.is_dir() else "does not exist"
            kind = kind if path.is_dir() or not path.exists() else "is not a regular file"
            fail(codes.UNKNOWN_MODULE, f"`{shown}` {kind}", _other_file(path, span, suffix))
            return None
        if path.stat().st_size > largest:
            fail(
                codes.UNREADABLE,
                f"`{shown}` is larger than {largest:,} bytes",
                "split it into files, and include them with `use`"
                if suffix == ".qps"
                else "keep a random sample of rows",
            )
            return None
        content = path.read_bytes()
        # Spreadsheets write tables so; specs are UTF-8.
        is_wide = suffix != ".qps" and content[:2] in (BOM_UTF16_LE, BOM_UTF16_BE)
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        fail(
            codes.UNREADABLE,
            f"`{shown}` is not UTF-8 text (byte {error.start})",
            "save it as UTF-8",
        )
    except OSError as error:
        fail(
            codes.UNREADABLE,
            f"cannot read `{shown}`: {error.strerror or error}",
            "check the path and its permissions",
        )
    return None


def _other_file(path: Path, span: Span | None, suffix: str) -> str:
    """Return a hint that offers the file that was probably meant: with an ending, or alike."""
    files = path.parent.glob(f"*{suffix}") if path.parent.is_dir() else ()
    near = closest(path.stem + suffix, (file.name for file in files if file.is_file()))
    if near is not None:
        return instead(path.name, near, words=f"did you mean `{near}`?")
    return "name a file relative to the one that uses it" if span else f"name a `{suffix}` file"
