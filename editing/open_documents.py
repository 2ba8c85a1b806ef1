"""What lies open: the texts that an editor holds, and what was made out of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from lsprotocol import types
from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.program import Program
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.examination import TextExamination, examine
from qps.compiler.pipeline import Spec, importer_of
from qps.compiler.project.project_file import project_mark
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.compiler.syntax.importer import read_spec
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.parse_cache import ParseCache
from qps.editing.addresses import library_name, own_path, path_of, uri_of_library, uri_of_path
from qps.editing.messages import AnswerLine, OpenText, Setting
from qps.editing.positions import Positions
from qps.links import resolved_path
from qps.stdlib import module_text

_MOST_READINGS = 20
"""Of texts and modules that are remembered; one is dropped when another one comes."""


class CheckedText(Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """What was made out of a text: what is wrong with it, and the spec where nothing is.

    `files` are all that it was read from, each with what says whether it is still the same;
    `project` says that of its project file.
    """

    examined: TextExamination
    files: dict[Path, object]
    project: str

    @property
    def source(self) -> Source:
        """The text."""
        return self.examined.source

    @property
    def spec(self) -> Spec | None:
        """The spec, None where something is wrong in it."""
        return self.examined.spec

    @property
    def program(self) -> Program | None:
        """The text with the modules that it uses; None where its project file is wrong."""
        return self.examined.findings.program

    def tree(self, source: Source) -> ast.Module | None:
        """Return the declarations of a file that the text uses, or of itself."""
        return self.examined.findings.noted.trees.get(source)

    @cached_property
    def dimensions(self) -> dict[str, Dimension]:
        """The dimensions of what the text itself gives values, as far as they are known."""
        values = self.examined.values
        if values is None:
            return {}
        found = {}
        for declaration in self.syntax.declarations:
            if isinstance(declaration, ast.Param | ast.Let | ast.Measure):
                for met in values.values_by_place.get(declaration.value.span, {}).values():
                    found[declaration.name.text] = met.dimension
        return found

    @cached_property
    def syntax(self) -> ast.Module:
        """The declarations, as far as they could be made out."""
        tree = self.tree(self.source) or parse(self.source).value
        assert tree is not None
        return tree


def _ignore(_: object) -> None:
    """Keep what is found first to oneself."""


def _no_page(_: Spec) -> str:
    raise NotImplementedError("this server makes no pages")


class OpenDocuments(Struct, kw_only=True):
    """The open texts of an editor, which counts columns in an `encoding`.

    `answers` are those of the texts as they are. What is found before all is, a feature can
    `notify`. `page_of` makes the page of a spec. Of a `library` folder, copies of standard modules
    are shown; `folders` are open in the editor.
    """

    notify: Callable[[object], None] = _ignore
    page_of: Callable[[Spec], str] = _no_page
    encoding: str = "utf-16"
    library: Path | None = None
    folders: tuple[Path, ...] = ()
    texts: dict[str, OpenText] = field(default_factory=dict)
    answers: dict[str, AnswerLine] = field(default_factory=dict)
    _readings: dict[str, tuple[object, CheckedText]] = field(default_factory=dict)
    _cache: ParseCache = field(default_factory=ParseCache)
    _positions: dict[int, Positions] = field(default_factory=dict)

    def set(self, setting: Setting) -> None:
        """Take note of how the editor counts columns, and of what is open in it."""
        self.encoding = setting.encoding
        self.library = None if setting.library is None else Path(setting.library)
        self.folders = tuple(Path(folder) for folder in setting.folders)

    def put(self, text: OpenText) -> None:
        """Lay a text on the documents, in the place of an older one."""
        self.texts[text.uri] = text
        self.answers.clear()  # other texts may use it

    def take(self, uri: str) -> None:
        """Take a text away: what is saved holds."""
        self.texts.pop(uri, None)
        self.answers.clear()
        self._readings.pop(uri, None)

    def source(self, uri: str) -> Source:
        """Return an open text as a source; what is not open is read from where it is."""
        held = self.texts.get(uri)
        path, library = path_of(uri), library_name(uri)
        if held is None:
            return _saved(uri, path, library)
        text = held.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        if path is None:
            return Source(library or uri, text)
        own = resolved_path(path)
        return Source(str(path), text, own.parent, own)

    def reading(
        self, uri: str, errors_first: Callable[[Sequence[Diagnostic]], None] | None = None
    ) -> CheckedText:
        """Return what an open text says now, with the texts and files that it uses.

        `errors_first` is called with the errors that are found first, if the text is looked at.
        """
        held = self.texts.get(uri)
        version = None if held is None else held.version
        known = self._readings.get(uri)
        if known is not None and known[0] == version and self._is_fresh(known[1]):
            return known[1]
        source = self.source(uri)
        importer = replace(importer_of(source), open_texts=self._by_path())
        examined = examine(source, importer, self._cache, errors_first)
        own = own_path(source) if held is None else None
        files = {path: self._stamp(path) for path in (*importer.named, *([own] if own else ()))}
        reading = CheckedText(
            examined=examined,
            files=files,
            project=project_mark(source.folder),
        )
        while len(self._readings) >= _MOST_READINGS:
            self._readings.pop(next(iter(self._readings)))
        self._readings[uri] = version, reading
        self._positions.clear()
        return reading

    def positions(self, source: Source) -> Positions:
        """Return the places of a text."""
        known = self._positions.get(id(source))
        if known is None or known.source is not source:
            known = self._positions[id(source)] = Positions(source, self.encoding)
        return known

    def uri_of(self, source: Source) -> str:
        """Return what the editor calls a source."""
        path = own_path(source)
        if path is not None:
            return self.uri_of_file(path)
        if source.label in self.texts:
            return source.label
        if self.library is None:
            return uri_of_library(source.label)
        return uri_of_path(_copy(source, self.library))

    def uri_of_file(self, path: Path) -> str:
        """Return what the editor calls a file: as it has opened it, where it has."""
        real = resolved_path(path)
        for uri in self.texts:
            held = path_of(uri)
            if held is not None and resolved_path(held) == real:
                return uri
        return uri_of_path(path)

    def location(self, source: Source, start: int, end: int) -> types.Location:
        """Return where a stretch of a source is."""
        return types.Location(self.uri_of(source), self.positions(source).between(start, end))

    def _by_path(self) -> dict[Path, str]:
        """Return the open texts by their real paths."""
        found = {}
        for uri in self.texts:
            path = path_of(uri)
            if path is not None:
                found[resolved_path(path)] = self.source(uri).text
        return found

    def _is_fresh(self, reading: CheckedText) -> bool:
        return reading.project == project_mark(reading.source.folder) and all(
            self._stamp(path) == stamp for path, stamp in reading.files.items()
        )

    def _stamp(self, path: Path) -> object:
        """Return what changes whenever a file does, in the editor or where it is saved."""
        held = self.texts.get(self.uri_of_file(path))
        if held is not None:
            return held.version
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size


def _copy(source: Source, folder: Path) -> Path:
    """Return a copy of a module of the standard library, which nobody can write."""
    path = folder / f"{source.label}.qps"
    if not path.exists():
        path.write_text(source.text, encoding="utf-8")
        path.chmod(0o444)
    return path


def _saved(uri: str, path: Path | None, library: str | None) -> Source:
    """Return the source of what is not open; an empty one where there is nothing."""
    if library is not None:
        return Source(library, module_text(library))
    read = None if path is None else read_spec(path).value
    return Source(uri, "") if read is None else read
