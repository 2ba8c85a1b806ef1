"""A network of one's own: nobody else's packets are counted in it, and no port is taken.

The process that requests it is in it from then on, and whatever it starts; it has a loopback
interface, and nothing else.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct

from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError

_NEW_NETWORK = 0x40000000
"""What is to be a new one (CLONE_NEWNET of Linux)."""
_SET_FLAGS = 0x8914
_UP = 1


def enter_own_network() -> None:
    """Go into a network of one's own; MeasuringError where that is not allowed."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_NETWORK) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise MeasuringError(
            f"cannot create a network namespace: {reason}",
            "run as root; or omit `--own-network`, and keep other traffic off `lo`",
        )
    import fcntl  # noqa: PLC0415 - of systems like Linux alone

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
