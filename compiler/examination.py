"""What an editor shows of a text: all that is known of it, whether or not it is right.

examined = examine(source)
examined.diagnostics             # errors and warnings, in the order of the text
examined.bindings.at(source, 7)  # what the name at a place means
examined.values.at(span)         # what an expression comes to
examined.spec                    # to be solved: only where nothing is wrong
examined.model                   # of what is sound: names and statements, never answers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.bindings import Bindings, bindings_of
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.fallback_resolution import resolve_fallbacks
from qps.compiler.check.names.name_recorder import Noted
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.evaluation import KnownValues
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.program_check import Findings
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse_cache import ParseCache


class TextExamination(Struct, frozen=True, kw_only=True, dict=True):
    """What is known of a text: the `spec` where nothing is wrong in it, and what was found."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    findings: Findings
    spec: Spec | None = None

    @property
    def model(self) -> ir.Model | None:
        """The model of all that is sound, beside what is wrong; None after very many mistakes.

        What is wrong, and what rests on it, is left out: of the rest it has what that states,
        and is no model to solve, since its answers would be those of another system.
        """
        return self.findings.model

    @property
    def noted(self) -> Noted[LoadedModule]:
        """What names were taken for, and the trees of all files as they are written."""
        return self.findings.noted

    @cached_property
    def bindings(self) -> Bindings:
        """What the names mean in it and in the files that it uses; made when first requested.

        Where something is wrong, names are looked up that the checker did not come to.
        """
        if self.spec is None and self.findings.program is not None:
            resolve_fallbacks(self.findings.program, self.findings.noted)
        return bindings_of(self.findings.noted)

    @cached_property
    def values(self) -> KnownValues | None:
        """What expressions come to; None where there is no model. Made when first requested."""
        model = self.model
        return None if model is None else KnownValues(self.findings.values_by_place, model)


def examine(
    source: Source,
    importer: Importer | None = None,
    cache: ParseCache | None = None,
    errors_first: Callable[[Sequence[Diagnostic]], None] | None = None,
) -> TextExamination:
    """Check a text and keep what was found on the way; never raises on a text.

    Who examines one text after the other gives the same `cache` each time: what did not change is
    not read again. `errors_first` is called with the errors that are found first, if any are.
    """
    findings = Findings(parse_cache=cache, errors_first=errors_first)
    checked = check_source(source, importer, findings)
    return TextExamination(
        source=source,
        diagnostics=checked.diagnostics,
        findings=findings,
        spec=checked.value,
    )
