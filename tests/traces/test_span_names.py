"""What is written of names: one operation for all IDs, and no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.traces.span_names import operation_name, service_name
from traces.written_traces import Work, as_text, otlp, spans_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GET /users/17", "GET /users/{id}"),
        ("GET /v1/carts/3fa85f64-5717-4562-b3fc-2c963f66afa6/items", "GET /v1/carts/{id}/items"),
        ("POST /login?password=hunter2", "POST /login"),
        ("GET https://joe:pw@shop.example/a#b", "GET https://shop.example/a"),
        ("SELECT * FROM t WHERE a = 'x' AND n = 12", "SELECT * FROM t WHERE a = {id} AND n = {id}"),
        ("payments.v1.PaymentService/Charge", "payments.v1.PaymentService/Charge"),
        ("send to a.b@mail.example", "send to {id}"),
        ("GET /s/deadbeef01234567", "GET /s/{id}"),
        ("Authorization: Bearer abc.def", "Authorization: {id}"),
        ("  ", "unnamed"),
    ],
)
def test_operations_have_no_ids(text: str, name: str) -> None:
    assert operation_name(text) == name


SECRETS = (
    "hunter2",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc123def456",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "joe@mail.example",
)


def test_no_secret_reaches_a_spec(tmp_path: Path) -> None:
    names = [
        f"GET /a?token={SECRETS[1]}",
        f"GET /t/{SECRETS[2]}/x",
        f"login password={SECRETS[0]}",
        f"SELECT '{SECRETS[4]}'",
        f"charge {SECRETS[3]}",
        f"Bearer {SECRETS[1]}",
        f"https://u:{SECRETS[0]}@db.example/x",
        f"mail to {SECRETS[4]}",
    ]
    roots = [
        Work(
            service=f"front {name}",
            operation=name,
            calls=(Work(service=name, operation=name, bare=True),),
        )
        for name in names
    ]
    (tmp_path / "traces.json").write_text(as_text(otlp(spans_of(roots))))
    spec = tmp_path / "system.qps"
    assert main(["observe", "traces", str(tmp_path / "traces.json"), "-o", str(spec)]) == 0
    text = spec.read_text(encoding="utf-8").lower()
    assert [one for one in SECRETS if one.lower()[:12] in text] == []
    assert service_name("cart") == "cart"
