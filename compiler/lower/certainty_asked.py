"""Requirements that ask for certainty: only samples of what is not known answer them."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError


def asks_for_certainty(model: ir.Model) -> ir.Requirement | None:
    """Return a requirement that must hold with a certainty, and of which no promise was found."""
    of_modes = (requirement for mode in model.modes for requirement in mode.requirements)
    asking = (
        requirement
        for requirement in (*model.requirements, *of_modes)
        if requirement.certainty is not None and requirement.promised is None
    )
    return next(asking, None)


def refuse_certainty_asked(model: ir.Model, configuration: Configuration) -> None:
    """Raise a QpsError where a requirement asks for certainty, and numbers are not certain.

    Where every number is, it holds for certain or not at all: it is a requirement like others.
    """
    asking = model.once(asks_for_certainty)
    if asking is not None and uncertain_in(configuration):
        refuse_asking(asking)


def refuse_asking(asking: ir.Requirement) -> None:
    """Raise a QpsError: a question is put that is not answered by samples."""
    raise QpsError.single(
        codes.NO_ANSWER,
        asking.span,
        f"`{asking.name}` is a matter of samples, and this question is not answered by samples",
        hint="`qps solve` tells how many users it holds for; where all numbers are certain "
        "(`--set 'name = value'`) it is a requirement like others",
    )
