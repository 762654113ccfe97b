"""The codes that there are, by name and by the number that packets carry."""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeVar, overload

from capsmodel.checks import require
from capsmodel.codec.base import BlockCode
from capsmodel.codec.inputs import CodecError, PacketError, whole_number
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.reed_solomon import ReedSolomon
from capsmodel.codec.rlnc import RandomLinear

# Limits of a unit in packets, so that a header alone cannot make a reader reserve gigabytes.
MAX_PACKET_BYTES = 1 << 20
MAX_UNIT_BYTES = 1 << 28
MAX_MATRIX_BYTES = 1 << 23

Code = TypeVar("Code", bound=type[BlockCode])
_codes: dict[str, type[BlockCode]] = {}
CODES: Mapping[str, type[BlockCode]] = MappingProxyType(_codes)


def register(code: Code) -> Code:
    """Make a code known by its name and, if it has one, by its number in packets; usable as a decorator.

    All that streams, files and the command line know of a code are its class attributes; see `BlockCode`.

    Raises
    ------
    CodecError
        When its name or its number is taken.

    Examples
    --------
    One repair packet, the sum of all source packets, in 15 lines, and then in a stream:

    >>> import numpy as np
    >>> from capsmodel.codec import BlockCode, Decoder, StreamDecoder, StreamEncoder
    >>> class ParityDecoder(Decoder):
    ...     @property
    ...     def missing(self):
    ...         return self.k - self.received
    ...     def _absorb(self, number):
    ...         pass
    ...     def _recover(self):
    ...         source = self._packets[: self.k].copy()
    ...         for lost in np.flatnonzero(~self._held[: self.k]):
    ...             source[lost] = np.bitwise_xor.reduce(self._packets[self._held])
    ...         return source
    >>> class Parity(BlockCode):
    ...     name, wire_number = "parity-example", 200
    ...     def _encode(self, source, repair):
    ...         repair[:] = np.bitwise_xor.reduce(source, axis=-2, keepdims=True)
    ...     def decoder(self):
    ...         return ParityDecoder(self)
    >>> from capsmodel.codec.registry import register, unregister
    >>> _ = register(Parity)
    >>> encoder = StreamEncoder(k=3, r=1, packet_bytes=4, code="parity-example")
    >>> first, *others = encoder.feed(b"twelve bytes") + encoder.finish()
    >>> decoder = StreamDecoder(stream=encoder.stream)
    >>> b"".join(decoder.add(packet) for packet in others)
    b'twelve bytes'
    >>> unregister(Parity)
    """
    taken = {other.wire_number: other.name for other in _codes.values() if other.wire_number is not None}
    if code.name in _codes:
        raise CodecError(f"two codes are named {code.name!r}: {_codes[code.name].__name__} and {code.__name__}")
    if code.wire_number in taken:
        raise CodecError(
            f"the number {code.wire_number} of {code.name} in packets is that of {taken[code.wire_number]}"
        )
    if code.wire_number is not None:
        whole_number("wire_number", code.wire_number, minimum=1, maximum=255)
    _codes[code.name] = code
    return code


def unregister(code: type[BlockCode]) -> None:
    """Forget a code that was registered."""
    del _codes[code.name]
    build_code.cache_clear()


for _code in (ReedSolomon, LdpcStaircase, RandomLinear):
    register(_code)


@overload
def get_code(name: Literal["rs"]) -> type[ReedSolomon]: ...
@overload
def get_code(name: Literal["ldpc"]) -> type[LdpcStaircase]: ...
@overload
def get_code(name: Literal["rlnc"]) -> type[RandomLinear]: ...
@overload
def get_code(name: str) -> type[BlockCode]: ...
def get_code(name: str) -> type[BlockCode]:
    """Return the class of the code called `name`.

    Raises
    ------
    CodecError
        When there is none; the text lists those there are.
    """
    try:
        return _codes[name]
    except KeyError:
        raise CodecError(f"no code is called {name!r}: choose one of {', '.join(sorted(_codes))}") from None


def numbered_code(number: int) -> type[BlockCode]:
    """Return the class of the code with this number in packets.

    Raises
    ------
    PacketError
        When there is none.
    """
    for code in _codes.values():
        if code.wire_number == number:
            return code
    known = sorted(code.wire_number for code in _codes.values() if code.wire_number is not None)
    raise PacketError(
        f"code number {number}, but this program knows {', '.join(map(str, known))}: use the sender's release, or "
        "register the code"
    )


@functools.lru_cache(maxsize=16, typed=True)
def build_code(code: str, *, k: int, r: int, packet_bytes: int, variant: int, seed: int) -> BlockCode:
    """Return the code that a header's fields describe; the last ones are kept.

    Parameters
    ----------
    code : str
        Name of a registered code with a number in packets.
    k, r : int
        Source and repair packets of a unit.
    packet_bytes : int
        Length of a packet, byte.
    variant : int
        Variant of the code, a key of its ``variants``.
    seed : int
        Seed of the code; 0 for a code without.

    Raises
    ------
    ParameterError
        When code or variant is unknown, a limit is exceeded, or the code refuses its parameters.
    """
    sendable = {name: one for name, one in _codes.items() if one.wire_number is not None}
    require(code in sendable, f"code = {code!r}, but packets carry {', '.join(sendable)}")
    made = sendable[code]
    known = made.variants
    require(variant in known, f"variant = {variant!r}, but {code} has the variants {', '.join(map(str, known))}")
    k, r = whole_number("k", k, minimum=1), whole_number("r", r, minimum=0)
    whole_number("packet_bytes", packet_bytes, minimum=1, maximum=MAX_PACKET_BYTES)
    _check_limits(made, k, r, packet_bytes)
    options = dict(known[variant])
    if made.default_seed is None:
        require(seed == 0, f"seed = {seed}, but the code {code} has none: use 0")
    else:
        options["seed"] = seed
    return made(k, r=r, packet_bytes=packet_bytes, **options)


def _check_limits(code: type[BlockCode], k: int, r: int, packet_bytes: int) -> None:
    require(k + r <= 0xFFFF, f"k + r = {k + r}, but a header counts packets in 16 bits: use smaller coding units")
    unit_bytes = (k + r) * packet_bytes
    require(
        unit_bytes <= MAX_UNIT_BYTES, f"a unit of {unit_bytes} bytes, but the limit is {MAX_UNIT_BYTES}: use less k"
    )
    matrix_bytes = code.matrix_bytes(k, r)
    require(
        matrix_bytes <= MAX_MATRIX_BYTES,
        f"k = {k}, r = {r}: to decode takes coefficients of {matrix_bytes} bytes, but the limit is "
        f"{MAX_MATRIX_BYTES}: use smaller coding units",
    )
