r"""The sending end of a stream: bytes in, packets out.

===================================  ======  ===============  ======  ==================
Quantity                             Symbol  Name             Unit    Equation
===================================  ======  ===============  ======  ==================
source and repair packets of a unit  k, r    `StreamEncoder`  packet  caps, section VI-A
===================================  ======  ===============  ======  ==================

The stream is cut into units of ``k * packet_bytes`` bytes. The last unit has as many source packets as its bytes need,
the last of them padded with zeros, and the same r. An empty stream is one unit without data.
"""

from typing import Any

import numpy as np

from capsmodel.checks import generator
from capsmodel.codec.base import BlockCode
from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.errors import CodecError
from capsmodel.codec.headers import Unit
from capsmodel.codec.inputs import check_data
from capsmodel.codec.packets import Packet, to_bytes
from capsmodel.codec.registry import build_code, get_code


class StreamEncoder:
    """Cuts a byte stream into coding units and codes each as soon as it is full.

    At most one unit is held back, because the last one is marked.

    Parameters
    ----------
    k, r : int
        Source and repair packets of a unit.
    packet_bytes : int
        Length of each payload, byte.
    code : str
        Name of a registered code: ``rs``, ``ldpc``, ``rlnc`` or one of your own.
    variant : int, optional
        Variant of the code, see `BlockCode.variants`; the code's default when not given.
    seed : int, optional
        Seed of the code; the code's default when not given.
    rng
        Source of the stream's number, anything `numpy.random.default_rng` takes.

    Attributes
    ----------
    stream : int
        Number of the stream; a receiver has to know it.
    source_bytes : int
        Bytes taken so far.

    Raises
    ------
    ParameterError
        When the code refuses these parameters.

    Examples
    --------
    >>> encoder = StreamEncoder(k=4, r=2, packet_bytes=100, code="rs", rng=1)
    >>> packets = encoder.feed(b"The quick brown fox") + encoder.finish()
    >>> len(packets), len(packets[0])  # one source packet suffices for 19 bytes, and r = 2
    (3, 148)
    """

    def __init__(
        self,
        *,
        k: int,
        r: int,
        packet_bytes: int,
        code: str = "rs",
        variant: int | None = None,
        seed: int | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        made = get_code(code)
        self.k, self.packet_bytes, self.code = k, packet_bytes, code
        self.variant = made.default_variant if variant is None else variant
        self.seed = (made.default_seed or 0) if seed is None else seed
        self.set_repair_packets(r)
        self.stream = int(generator(rng).integers(2**64, dtype=np.uint64))
        self.source_bytes = 0
        self._pending = bytearray()
        self._next = 0
        self._finished = False

    def set_repair_packets(self, r: int) -> None:
        """Give r repair packets to each unit that is coded from now on.

        Raises
        ------
        ParameterError
            When the code refuses r.
        """
        self._build(self.k, r)  # refuse bad parameters at once
        self.r = r

    def _build(self, k: int, r: int) -> BlockCode:
        return build_code(self.code, k=k, r=r, packet_bytes=self.packet_bytes, variant=self.variant, seed=self.seed)

    def feed(self, data: Any) -> list[bytes]:
        """Take bytes, any contiguous buffer, and return the packets of the units that they fill.

        Raises
        ------
        CodecError
            When the stream was finished before.
        ParameterError
            When `data` is no buffer of bytes.
        """
        self._check_open()
        view = check_data("data", data)
        self._pending += view
        self.source_bytes += len(view)
        packets: list[bytes] = []
        unit_bytes = self.k * self.packet_bytes
        done = 0
        while len(self._pending) - done > unit_bytes:  # a unit that is just full may be the last
            packets += self._packets(bytes(self._pending[done : done + unit_bytes]), last=False)
            done += unit_bytes
        del self._pending[:done]
        return packets

    def finish(self) -> list[bytes]:
        """Return the packets of the last unit; the stream is then at its end.

        Raises
        ------
        CodecError
            When the stream was finished before.
        """
        self._check_open()
        packets = self._packets(bytes(self._pending), last=True)
        self._finished = True
        self._pending.clear()
        return packets

    def _check_open(self) -> None:
        if self._finished:
            raise CodecError(f"stream {self.stream:016x} was finished: begin another with a new StreamEncoder")

    def _packets(self, data: bytes, *, last: bool) -> list[bytes]:
        """Return the packets of one unit."""
        k = max(1, -(-len(data) // self.packet_bytes))
        source = np.zeros(k * self.packet_bytes, np.uint8)
        source[: len(data)] = np.frombuffer(data, np.uint8)
        coded = self._build(k, self.r).coded(source.reshape(k, self.packet_bytes))
        unit = Unit(
            stream=self.stream,
            number=self._next,
            code=self.code,
            variant=self.variant,
            k=k,
            r=self.r,
            packet_bytes=self.packet_bytes,
            seed=self.seed,
            source_bytes=len(data),
            unit_crc=crc32c(data),
            last=last,
        )
        packets = [to_bytes(Packet(unit, index, payload)) for index, payload in enumerate(coded)]
        self._next += 1
        return packets
