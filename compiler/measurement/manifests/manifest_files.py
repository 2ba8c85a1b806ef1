"""Files of manifests as plain values: YAML by PyYAML's safe loader, and JSON.

A file is bounded in size, depth and number of values; an alias is a reference to the same value,
and nothing here follows all of them, so that ten lines cannot become a billion values.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from qps.compiler.diagnostics.extras import need_yaml
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.manifests.compose_services import compose_workloads
from qps.compiler.measurement.manifests.deployed_workloads import Workload
from qps.compiler.measurement.manifests.kubernetes_objects import kubernetes_workloads
from qps.compiler.measurement.manifests.terraform_state import terraform_workloads
from qps.compiler.measurement.measured_tables import DataError

_MOST_BYTES = 50_000_000
_MOST_YAML = 5_000_000
_MOST_VALUES = 200_000
_DEEPEST = 60
_MOST_MERGED = 10_000
_HINT = (
    "name manifests of Kubernetes, a compose file, or the output of `terraform show -json`; write "
    "charts with `helm template`, and overlays with `kustomize build`, to a file first"
)


def deployed_workloads(files: Sequence[Path]) -> tuple[Workload, ...]:
    """Return all workloads of files, in their order; DataError where there are none."""
    kubernetes: list[tuple[dict[str, Any], str]] = []
    found: list[Workload] = []
    for path in files:
        documents = _documents(path)
        name = str(path)
        for document in documents:
            if "kind" in document:
                kubernetes.append((document, name))
            elif "services" in document:
                found += compose_workloads(document, name)
            elif "values" in document or "planned_values" in document:
                found += terraform_workloads(document, name)
            else:
                names = ", ".join(f"`{shortened(str(key))}`" for key in [*document][:5])
                raise DataError(
                    f"`{shortened(name)}` is not a manifest that is known: it has {names}", _HINT
                )
    found += kubernetes_workloads(kubernetes)
    if not found:
        named = ", ".join(f"`{shortened(str(path))}`" for path in files)
        raise DataError(f"{named}: no workloads or machines", _HINT)
    return tuple(found)


def _documents(path: Path) -> list[dict[str, Any]]:
    try:
        content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else None
    except OSError as error:
        raise DataError(
            f"`{shortened(str(path))}` cannot be read: {error.strerror or error}",
            "check the path and its permissions",
        ) from error
    if content is None:
        raise DataError(
            f"`{shortened(str(path))}` is larger than {_MOST_BYTES // 10**6} MB", "split it"
        )
    text = content.decode("utf-8-sig", errors="replace")
    is_json = text.lstrip().startswith("{")
    documents = [_json(content, path)] if is_json else _yaml(text, path)
    return [one for one in documents if isinstance(one, dict) and one]


def _json(content: bytes, path: Path) -> Any:
    try:
        return msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"`{shortened(str(path))}` is not JSON: {error}", _HINT) from error


def _yaml(text: str, path: Path) -> list[Any]:
    """Return the documents of a YAML; it is checked before any value of it is made."""
    name = shortened(str(path))
    need_yaml(f"`{name}`")
    yaml = import_module("yaml")
    if len(text) > _MOST_YAML:
        raise DataError(
            f"`{name}` is larger than {_MOST_YAML // 10**6} MB of YAML", "split it by document"
        )
    try:
        _refuse_bombs(yaml, text, name)
        return list(yaml.load_all(text, Loader=_bounded_loader(yaml, name)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}" if mark is not None else ""
        reason = shortened(error.problem or error.context or "it is damaged")
        raise DataError(f"`{name}`{place}: not YAML: {reason}", _HINT) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DataError(f"`{name}` is not YAML: {shortened(str(error))}", _HINT) from error


def _refuse_bombs(yaml: Any, text: str, name: str) -> None:
    """Raise DataError where a YAML is too deep or has too many values."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1
        if depth > _DEEPEST:
            raise DataError(
                f"`{name}`, line {line}: nested more than {_DEEPEST} deep", "split it by document"
            )
        if number > _MOST_VALUES:
            raise DataError(
                f"`{name}`, line {line}: more than {_MOST_VALUES:,} values", "split it by document"
            )


def _bounded_loader(yaml: Any, name: str) -> Any:
    """Return a safe loader that bounds what merged mappings (`<<`) become: they are copied."""

    def flatten(loader: Any, node: Any) -> None:
        yaml.SafeLoader.flatten_mapping(loader, node)
        if len(node.value) > _MOST_MERGED:
            raise DataError(
                f"`{name}`, line {node.start_mark.line + 1}: merged mappings (`<<`) have more "
                f"than {_MOST_MERGED:,} values",
                "write the mapping in full",
            )

    return type("BoundedLoader", (yaml.SafeLoader,), {"flatten_mapping": flatten})
