"""What an editor asks of a text: all that is known of it, whether or not it is right.

examined = examine(source)
examined.diagnostics            # errors and warnings, in the order of the text
examined.bindings.at(source, 7) # what the name at a place means
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from qps.compiler.check.names.bindings import Bindings, bindings_of
from qps.compiler.check.names.declarations import Module
from qps.compiler.check.names.noting import Noted
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import Spec, check_source
from qps.compiler.syntax.importer import Importer


class Examined(Struct, frozen=True, kw_only=True, dict=True):
    """What is known of a text: the `spec` where nothing is wrong in it, and what was found."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    noted: Noted[Module]
    spec: Spec | None = None

    @cached_property
    def bindings(self) -> Bindings:
        """What the names mean in it and in the files that it uses; made when first asked for."""
        return bindings_of(self.noted)


def examine(source: Source, importer: Importer | None = None) -> Examined:
    """Check a text and keep what was found on the way; never raises on a text."""
    noted: Noted[Module] = Noted()
    checked = check_source(source, importer, noted)
    return Examined(source=source, diagnostics=checked.diagnostics, noted=noted, spec=checked.value)
