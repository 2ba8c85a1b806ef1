"""`qps observe manifests`: what manifests deploy, as a spec."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.observations.update_spec import existing_spec, update
from qps.commands.observations.written_specs import laid_out, refuse_existing
from qps.commands.terminal.console import Exit, complain
from qps.commands.terminal.output_files import write_text
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.manifests.manifest_files import deployed_workloads
from qps.compiler.measurement.measured_tables import DataError
from qps.reports.text.systems.manifest_spec import manifest_spec
from qps.reports.text.systems.updates.spec_update import spec_update
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Write the spec of a system; what has no replicas is left out, and that is said."""
    refuse_existing(arguments.output)
    module = existing_spec(arguments)
    try:
        found = deployed_workloads(arguments.files)
    except DataError as error:
        raise complain(error.message, error.hint) from error
    running = [one for one in found if one.replicas or one.most]
    if not running:
        raise complain("no workload of these manifests has replicas", "name other manifests")
    text = laid_out(manifest_spec(running))
    if module is not None:
        try:
            return update(spec_update(module, text, named=arguments.replace), arguments)
        except DataError as error:
            raise complain(error.message, error.hint) from error
    notes = [
        phrase("manifest.left_out", name=shortened(one.name)) for one in found if one not in running
    ]
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
        count, output = len(running), arguments.output
        notes.append(phrase("manifest.written", output=output, count=count, s="s" * (count != 1)))
    if not arguments.quiet:
        sys.stderr.write("".join(f"{note}\n" for note in notes))
    return Exit.YES
