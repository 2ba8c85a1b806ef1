"""Mistakes in an instance: reported together with all others, each with the use of its file."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, Sink


class _InstanceSink(Sink, kw_only=True):
    """Collects what is wrong in an instance, together with all else, and says in which."""

    instance_label: Label | None = None

    def add(self, finding: Diagnostic) -> None:
        """Record a diagnostic, with the instance where it stands in another text."""
        primary, label = finding.primary, self.instance_label
        is_labeled = label is None or label in finding.secondary
        if label is not None and not is_labeled and not _stands_with(primary, label):
            finding = replace(finding, secondary=(*finding.secondary, label))
        super().add(finding)


def _stands_with(primary: Label | None, label: Label) -> bool:
    return primary is not None and primary.span.source is label.span.source


def sink_of(instance: LoadedModule, sink: Sink) -> Sink:
    """Return where the mistakes of an instance go: to all others, each with its instance."""
    assert instance.used is not None
    return _InstanceSink(
        found=sink.found,
        failed_names=sink.failed_names,
        _known=sink._known,  # noqa: SLF001 - one of its kind: one mistake is reported once
        instance_label=Label(instance.used.span, f"in the instance `{instance.prefix}`"),
    )
