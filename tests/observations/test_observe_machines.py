"""What sar prints or records and what packet captures hold, as tables."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

from observations.observed_files import FILES, observed
from qps.cli import main


def test_sar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = observed("sar", FILES / "sar.json", folder=tmp_path)
    assert "measure service demands per process" in capsys.readouterr().err
    assert rows[1] == {
        "time": "2026-11-23T07:38:44Z",
        "cpu in %": "99.51",  # 0.49 % were stolen by other guests
        "packet/s": "0",
        "byte/s": "0",
        "cores": "2",
    }
    rows = observed("sar", FILES / "sar.json", "--interface", "lo", folder=tmp_path)
    assert [row["packet/s"] for row in rows] == ["810", "800", "800"]
    assert rows[0]["byte/s"] == "569344"  # 556 KiB


def test_what_sar_prints_is_what_it_records(tmp_path: Path) -> None:
    for more in ((), ("--interface", "lo")):
        recorded = observed("sar", FILES / "sar.json", *more, folder=tmp_path)
        printed = observed("sar", FILES / "sar.txt", *more, folder=tmp_path)
        assert len(printed) == len(recorded) == 3
        for one, other in zip(printed, recorded, strict=True):
            assert other["time"] == f"{one['time']}Z"  # of 11/23/26 only one can be the month
            del one["time"], other["time"]
            assert {k: float(v) for k, v in one.items()} == pytest.approx(
                {k: float(v) for k, v in other.items()}, abs=0.011
            )


def test_sar_prints_times_and_numbers_in_many_ways(tmp_path: Path) -> None:
    text = """Linux 6.1 (vm) 2026-11-23 _x86_64_ (2 CPU)

12:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
12:00:02 AM     all      1,50      0,00      0,50      1,00      0,00     97,00
12:00:02 AM       0      9,50      0,00      0,50      1,00      0,00     89,00
01:00:02 PM     all      1,50      0,00      0,50      0,00      0,00     98,00

Average:        all      1,50      0,00      0,50      1,00      0,00     97,00
"""
    file = tmp_path / "sar.txt"
    file.write_text(text, encoding="utf-8")
    rows = observed("sar", file, folder=tmp_path)
    assert [(row["time"], row["cpu in %"]) for row in rows] == [
        ("2026-11-23T00:00:02", "2"),
        ("2026-11-23T13:00:02", "2"),
    ]


def test_captures(tmp_path: Path) -> None:
    pytest.importorskip("scapy")
    rows = observed("pcap", FILES / "pcap_wire.pcap", "--window", "1ms", folder=tmp_path)
    assert [row["packet/s"] for row in rows] == ["0", "1000", "0", "0"]
    assert rows[1]["byte/s"] == "66000"


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("magic", "parts"), [(0xA1B2C3D4, 10**6), (0xA1B23C4D, 10**9)])
def test_bytes_are_those_on_the_wire(order: str, magic: int, parts: int, tmp_path: Path) -> None:
    pytest.importorskip("scapy")
    content = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 96, 1)
    for at, length in ((0.5, 60), (1.25, 1500), (1.75, 500), (3.5, 60), (4.0, 60)):
        stored = min(length, 96)
        whole, part = divmod(round(at * parts), parts)
        content += struct.pack(order + "IIII", 1_700_000_000 + whole, part, stored, length)
        content += bytes(stored)
    file = tmp_path / "wire.pcap"
    file.write_bytes(content)
    rows = observed("pcap", file, folder=tmp_path)
    values = [(row["packet/s"], row["byte/s"]) for row in rows]
    assert values == [("2", "2000"), ("0", "0"), ("1", "60")]


@pytest.mark.parametrize(("link", "is_reported"), [(1, False), (113, True), (276, True)])
def test_packets_of_all_interfaces_may_count_twice(
    link: int, is_reported: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scapy")
    content = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, link)
    for at in range(4):
        content += struct.pack("<IIII", 1_700_000_000 + at, 0, 0, 60)
    (tmp_path / "wire.pcap").write_bytes(content)
    observed("pcap", tmp_path / "wire.pcap", folder=tmp_path)
    assert ("a packet is counted on each that it passes" in capsys.readouterr().err) == is_reported


def pcapng() -> bytes:
    """Return a capture of the newer format: packets at 10, 11.5 and 13 s, with a length of 700."""

    def block(kind: int, body: bytes) -> bytes:
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    content = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    content += block(1, struct.pack("<HHI", 1, 0, 96))
    for at in (10, 11.5, 13):
        high, low = divmod(round(at * 10**6), 1 << 32)
        content += block(6, struct.pack("<IIIII", 0, high, low, 4, 700) + b"kept")
    return content


def test_captures_of_the_newer_format(tmp_path: Path) -> None:
    pytest.importorskip("scapy")
    file = tmp_path / "wire.pcapng"
    file.write_bytes(pcapng())
    rows = observed("pcap", file, folder=tmp_path)
    assert [row["byte/s"] for row in rows] == ["700", "0"]


def test_a_broken_capture_is_read_up_to_there_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scapy")
    file = tmp_path / "wire.pcapng"
    file.write_bytes(pcapng()[:-6])
    out = str(tmp_path / "out.csv")
    assert main(["observe", "pcap", str(file), "--window", "500ms", "-o", out]) == 0
    assert "warning: " in capsys.readouterr().err


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_block_of_a_capture_that_is_larger_than_any_packet_takes_no_memory(
    is_packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("scapy")
    content = pcapng() + struct.pack("<II", 6, 0xFFFFFFF0) + bytes(100)
    file = tmp_path / "wire.pcapng"
    file.write_bytes(gzip.compress(content) if is_packed else content)
    out = str(tmp_path / "out.csv")
    assert main(["observe", "pcap", str(file), "--window", "500ms", "-o", out]) == 0
    assert "truncated after packet 3: a block of 4,294,967,268 bytes" in capsys.readouterr().err
    file.write_bytes(gzip.compress(gzip.compress(content)))
    assert main(["observe", "pcap", str(file), "-o", out]) == 2
    assert "is not a packet capture" in capsys.readouterr().err
