"""Units as plain bytes, for callers without arrays: data to packets and back, for any registered code."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from capsmodel.checks import require
from capsmodel.codec.base import BlockCode
from capsmodel.codec.errors import PacketError, Packets
from capsmodel.codec.inputs import check_data, whole_number


def split(data: Any, *, k: int) -> Packets:
    """Return `data` as k source packets of equal length, the last ones padded with zeros.

    Parameters
    ----------
    data : bytes-like
        Data of a unit, at least one byte.
    k : int
        Source packets, >= 1.

    Returns
    -------
    array of uint8, shape (k, packet_bytes)
        packet_bytes is the data's length over k, rounded up.

    Examples
    --------
    >>> split(b"seven b", k=3).shape
    (3, 3)
    """
    view, k = check_data("data", data), whole_number("k", k, minimum=1)
    require(len(view) > 0, "data is empty, but a unit has at least one byte")
    packets = np.zeros(k * -(-len(view) // k), np.uint8)
    packets[: len(view)] = view
    return packets.reshape(k, -1)


def join(source: Packets, *, source_bytes: int) -> bytes:
    """Return the first `source_bytes` bytes of source packets, one after the other: what `split` was given.

    Examples
    --------
    >>> join(split(b"seven b", k=3), source_bytes=7)
    b'seven b'
    """
    whole_number("source_bytes", source_bytes, minimum=0, maximum=source.size)
    return source.tobytes()[:source_bytes]


def encode_bytes(code: BlockCode, data: Any) -> list[bytes]:
    """Return the n packets of a unit as bytes.

    Parameters
    ----------
    code : BlockCode
        Code; ``k * packet_bytes`` bytes make a unit.
    data : bytes-like
        Data of the unit; zeros pad it when it is shorter.

    Examples
    --------
    >>> from capsmodel.codec import ReedSolomon
    >>> code = ReedSolomon(3, r=2, packet_bytes=4)
    >>> packets = encode_bytes(code, b"twelve bytes")
    >>> decode_bytes(code, {4: packets[4], 1: packets[1], 3: packets[3]})
    b'twelve bytes'
    """
    view = check_data("data", data)
    unit_bytes = code.k * code.packet_bytes
    require(len(view) <= unit_bytes, f"data of {len(view)} bytes, but a unit of this code has {unit_bytes}")
    source = np.zeros(unit_bytes, np.uint8)
    source[: len(view)] = view
    return [packet.tobytes() for packet in code.coded(source.reshape(code.k, -1))]


def decode_bytes(code: BlockCode, packets: Mapping[int, Any]) -> bytes:
    """Return the ``k * packet_bytes`` bytes of a unit from packets by their number; see `BlockCode.decode`.

    Raises
    ------
    NotEnoughPackets
        When the packets do not determine the source.
    PacketError
        When a packet has the wrong length or number.
    """
    received = np.empty((len(packets), code.packet_bytes), np.uint8)
    for row, (number, packet) in zip(received, packets.items(), strict=True):
        view = check_data(f"packet {number}", packet)
        if len(view) != code.packet_bytes:
            raise PacketError(f"packet {number} has {len(view)} bytes, but those of this code have {code.packet_bytes}")
        row[:] = view
    return code.decode(received, list(packets)).tobytes()
