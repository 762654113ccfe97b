"""Errors of the codec, and checks of what its functions are given."""

from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from capsmodel.checks import ParameterError, require

Packets = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class CodecError(ValueError):
    """Packets cannot be encoded or decoded; the text says which and why."""


class PacketError(CodecError):
    """A packet is malformed: wrong length, wrong number, or in conflict with one that was received before."""


class NotEnoughPackets(CodecError):
    """The packets received do not determine the source.

    Attributes
    ----------
    missing : int
        How many more packets are needed at least.
    """

    def __init__(self, missing: int, *, received: int, k: int) -> None:
        self.missing = missing
        word = "packet is" if missing == 1 else "packets are"
        super().__init__(f"{received} packets received for k = {k}: at least {missing} more {word} needed")


_BYTE, _INT = np.dtype(np.uint8), np.dtype(np.int64)


def whole_number(name: str, value: int, *, minimum: int, maximum: int | None = None) -> int:
    """Return `value` as an int of at least `minimum`, or raise ParameterError naming the argument."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < minimum:
        raise ParameterError(f"{name} = {value!r}, but it must be a whole number of at least {minimum}")
    if maximum is not None and value > maximum:
        raise ParameterError(f"{name} = {value}, but it must be at most {maximum}")
    return int(value)


def flag(name: str, value: bool) -> bool:
    """Return `value` as a bool if it is one, or raise ParameterError: any text would count as True."""
    require(isinstance(value, bool | np.bool_), f"{name} = {value!r}, but it must be True or False")
    return bool(value)


def is_packets(value: Any) -> bool:
    """Say whether `value` is an array of bytes; a masked array is not, since its mask would be forgotten."""
    if type(value) is np.ndarray:  # nearly always, and the quickest to see
        return bool(value.dtype == _BYTE)
    return isinstance(value, np.ndarray) and value.dtype == _BYTE and not isinstance(value, np.ma.MaskedArray)


def check_id(packet_id: int, *, n: int) -> int:
    """Return the packet number as an int in 0 .. n - 1, or raise PacketError."""
    if type(packet_id) is int and 0 <= packet_id < n:  # nearly always, and the quickest to see
        return packet_id
    if not isinstance(packet_id, np.integer) or not 0 <= packet_id < n:
        raise PacketError(f"packet number {packet_id!r}, but this code has the packets 0 to {n - 1}")
    return int(packet_id)


def check_packet(packet: Packets, *, packet_bytes: int, packet_id: int) -> Packets:
    """Return the packet if it is a uint8 array of shape (packet_bytes,), or raise PacketError."""
    if not is_packets(packet) or packet.shape != (packet_bytes,):
        raise PacketError(
            f"packet {packet_id} is {described(packet)}, but uint8 of shape ({packet_bytes},) is expected"
        )
    return packet


def check_units(name: str, packets: Packets, *, rows: int | None, packet_bytes: int) -> Packets:
    """Return packets of one unit, shape (rows, packet_bytes), or of several, with the bytes of each contiguous.

    `rows` is None where any number will do.
    """
    if not is_packets(packets) or packets.ndim not in (2, 3) or packets.shape[-1] != packet_bytes:
        raise _wrong_shape(name, packets, rows, packet_bytes)
    if rows is not None and packets.shape[-2] != rows:
        raise _wrong_shape(name, packets, rows, packet_bytes)
    if packets.strides[-1] != 1:
        packets = np.ascontiguousarray(packets)
    return packets


def each_unit(*arrays: Packets) -> Iterable[tuple[Packets, ...]]:
    """Return what arrays hold of each unit, given those of one unit or of several."""
    return zip(*arrays, strict=True) if arrays[0].ndim == 3 else [arrays]


def _wrong_shape(name: str, packets: Any, rows: int | None, packet_bytes: int) -> PacketError:
    shape = f"({'m' if rows is None else rows}, {packet_bytes})"
    return PacketError(
        f"{name} {described(packets)}, but uint8 of shape {shape} is expected, or (units, ., .) for several units"
    )


def check_numbers(ids: npt.ArrayLike, received: Packets) -> Ints:
    """Return the numbers of `received`, packets of one unit or of several, as int64 of shape (m,) or (units, m).

    Whether they are numbers of the code is left to `check_range`.
    """
    try:
        numbers = np.asarray(ids)
    except ValueError:
        raise PacketError("ids are a ragged list: give one number for each packet") from None
    *units, m, _ = received.shape
    if numbers.shape not in ((m,), (*(units or [1]), m)):
        raise PacketError(f"{m} packets have ids of shape {numbers.shape}: give one number for each packet")
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise PacketError(f"ids are {numbers.dtype}, but packet numbers are whole numbers")
    return np.ascontiguousarray(numbers, np.int64)


def check_range(numbers: Ints, *, n: int) -> list[int]:
    """Return packet numbers as a list, or raise PacketError when one does not lie in 0 .. n - 1."""
    listed: list[int] = numbers.tolist()  # faster than array reductions for the few packets of a coding unit
    if listed and (min(listed) < 0 or max(listed) >= n):
        check_id(next(number for number in listed if not 0 <= number < n), n=n)
    return listed


def check_output(out: Packets | None, shape: tuple[int, ...], *inputs: Packets) -> Packets:
    """Return `out` if a result of this shape can be written to it, or a new array when there is none."""
    if out is None:
        return np.empty(shape, np.uint8)
    if not is_packets(out) or out.shape != shape:
        raise CodecError(f"the output is {described(out)}, but uint8 of shape {shape} is expected")
    if not out.flags.writeable or (out.strides[-1] != 1 and out.shape[-1] > 1):
        raise CodecError("the output must be writeable, with the bytes of each row contiguous")
    if any(_share_bytes(out, given) for given in inputs):
        raise CodecError("the output shares memory with the packets: give another array")
    return out


def _share_bytes(one: Packets, other: Packets) -> bool:
    """Say whether two arrays have bytes in common, exactly: views of one array may lie between each other."""
    return np.may_share_memory(one, other) and np.shares_memory(one, other)


def quick_output(given: object, shape: tuple[int, int], out: object, out_shape: tuple[int, int]) -> Packets | None:
    """Return where the result for one unit goes, or None where `given` or `out` needs the closer look of the checks.

    Of small packets a unit takes a microsecond or two, and these checks would take as long again.
    """
    if type(given) is not np.ndarray or given.dtype is not _BYTE or given.shape != shape or given.strides[1] != 1:
        return None
    if out is None:
        return np.empty(out_shape, given.dtype)
    if type(out) is not np.ndarray or out.dtype is not _BYTE or out.shape != out_shape or out.strides[1] != 1:
        return None
    apart = out is not given and out.flags.owndata and given.flags.owndata
    return out if apart and out.flags.writeable else None


def are_plain_numbers(ids: Any) -> TypeGuard[Ints]:
    """Say whether `ids` is an array of packet numbers that needs no conversion."""
    return type(ids) is np.ndarray and ids.dtype is _INT and ids.strides == (8,)


def check_data(name: str, data: Any) -> memoryview:
    """Return a view of the bytes of any contiguous buffer, or raise ParameterError."""
    if isinstance(data, str):
        raise ParameterError(f"{name} is text: turn it into bytes first, as in text.encode()")
    try:
        return memoryview(data).cast("B")
    except TypeError:
        text = f"{name} is {described(data)}, but contiguous bytes are expected, such as bytes or a C-ordered array"
        raise ParameterError(text) from None


def described(value: Any) -> str:
    """Return type and shape of what was given instead of packets, for an error text."""
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"a {type(value).__name__} (see np.frombuffer, or capsmodel.codec.split)"
    return f"a {type(value).__name__}"
