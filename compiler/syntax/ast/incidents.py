"""What happens meanwhile: incidents, and how caches, autoscalers and clients behave in them."""

from __future__ import annotations

from typing import ClassVar

from qps.compiler.syntax.ast.base_node import Declaration, Name, Named, Presentation, Written
from qps.compiler.syntax.ast.expressions import Expr, Number, Range, Text
from qps.compiler.syntax.ast.parameters import NamedSetting


class Autoscaler(Declaration, frozen=True, kw_only=True):
    """`autoscale web in 4..20 { target 70 %; startup 60 s }`: the number of machines of a node."""

    is_of_main_file: ClassVar[bool] = True

    node: Name
    range: Range
    settings: tuple[NamedSetting, ...] = ()
    source: Text | None = None


class Retrying(Declaration, frozen=True, kw_only=True):
    """`retry browse { timeout 2 s; retries 3 }`: what clients do without an answer in time."""

    is_of_main_file: ClassVar[bool] = True

    stream: Name
    settings: tuple[NamedSetting, ...] = ()
    source: Text | None = None


class Disturbance(Written, frozen=True, kw_only=True):
    """`lose 1 of web for 10 minute`, `slow db by 50 % after 5 minute for 10 minute`.

    What happens to something: it is lost, slow, fails with errors, is under a surge, or emptied.
    """

    kind: str
    name: Name
    count: Number | Text | None = None
    amount: Expr | None = None
    start: Expr | None = None
    length: Expr | None = None


class Incident(Named, frozen=True, kw_only=True):
    """`incident database_down { lose db for 10 minute }`: what happens for a time."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="an incident", symbol_kind="Event", color="namespace", tag="module"
    )
    is_of_main_file: ClassVar[bool] = True

    disturbances: tuple[Disturbance, ...] = ()
