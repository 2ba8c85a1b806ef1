"""`qps explain`: a number taken apart, the queueing network, or a diagnostic's code."""

from __future__ import annotations

from argparse import Namespace

from qps.commands.terminal.console import Exit


def run(arguments: Namespace) -> Exit:
    """Explain a code where it stands alone, else what is named behind a spec, or its network."""
    if arguments.network:
        from qps.commands.explanations.explain_network import explain_network  # noqa: PLC0415

        return explain_network(arguments)
    if arguments.name is None:
        from qps.commands.explanations.explain_code import explain_code  # noqa: PLC0415 - waits for no solver

        return explain_code(str(arguments.file), arguments)
    from qps.commands.explanations.explain_number import explain_number  # noqa: PLC0415

    return explain_number(arguments)
