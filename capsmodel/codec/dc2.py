r"""Coded packets of DC2-MTCP: at most 15 original packets of a connection, named in a TCP option.

======================  =============  ====================  ======  ===============================
Quantity                Symbol         Name                  Unit    Equation
======================  =============  ====================  ======  ===============================
original packets mixed  n              `Dc2Option.mixed`     packet  dc2mtcp u (III-B) option length
largest number of them  C_max          `C_MAX`               packet  dc2mtcp, section IV-A
option length           3n - 1         `Dc2Option.to_bytes`  byte    dc2mtcp u (III-B) option length
coded packet            C = Σ α_i P_i  `Dc2Mixer`            packet  dc2mtcp u (IV-C) coded packet
======================  =============  ====================  ======  ===============================

Layout of the option, without TCP's own kind and length bytes. Data sequence numbers (DSN) count packets here, as in
the paper's Fig. 3; 2-byte offsets in bytes would span 43 packets of 1500 bytes.

=========  ==================================================================================================
bytes      field
=========  ==================================================================================================
1          n, the number of original packets mixed; 0 says that the packet is an original
2 (n - 1)  DSN of the second, third, ... mixed packet less that of the first; big-endian, strictly increasing
n          coefficients of the mixed packets in GF(2^8), in the order of their DSN, none 0
=========  ==================================================================================================

The first mixed packet's DSN is the DSN of the coded packet itself. The paper lists only count and offsets but gives
3n - 1 bytes, which leaves exactly one byte per coefficient. n = 0 is one byte long; the formula would give -1.
n = 1, a scaled copy, is legal and 2 bytes long. n = 14 and 15 take 41 and 44 bytes, more than TCP's 40 bytes of
options, so the paper's C_max = 15 does not fit; `fits_tcp` tells.
"""

import struct
from dataclasses import dataclass

import numpy as np

from capsmodel.checks import generator
from capsmodel.codec.elimination import add_scaled
from capsmodel.codec.errors import PacketError, Packets
from capsmodel.codec.gf256 import MUL
from capsmodel.codec.inputs import check_packet, whole_number
from capsmodel.codec.progressive import GaussJordan, Preemptive, ProgressiveDecoder

C_MAX = 15
TCP_OPTION_BYTES = 40
_MAX_OFFSET = 0xFFFF


@dataclass(frozen=True)
class Dc2Option:
    """Which original packets a packet mixes, and with which coefficients.

    Parameters
    ----------
    offsets : tuple of int
        DSN of each mixed packet less the packet's own DSN, packets: 0 first, strictly increasing, at most 65535.
        Empty for an original packet.
    coefficients : tuple of int
        Coefficient of each mixed packet, an element of GF(2^8) other than 0.

    Raises
    ------
    PacketError
        When the parts do not make an option: the text says which rule is broken.

    References
    ----------
    dc2mtcp u (III-B) option length.

    Examples
    --------
    >>> option = Dc2Option(offsets=(0, 1, 4), coefficients=(7, 1, 200))
    >>> option.to_bytes().hex(), Dc2Option.parse(option.to_bytes()) == option
    ('03000100040701c8', True)
    """

    offsets: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.coefficients):
            raise PacketError(
                f"{len(self.offsets)} offsets but {len(self.coefficients)} coefficients: give one for each"
            )
        if self.mixed > C_MAX:
            raise PacketError(f"n = {self.mixed} packets are mixed, but the limit is {C_MAX}")
        if self.mixed and self.offsets[0] != 0:
            raise PacketError(
                f"the first offset is {self.offsets[0]}, but a coded packet has the DSN of its first packet"
            )
        steps = zip(self.offsets, self.offsets[1:], strict=False)
        if any(late <= early for early, late in steps) or any(offset > _MAX_OFFSET for offset in self.offsets):
            raise PacketError(f"offsets {self.offsets} must increase strictly and stay below 65536")
        if not all(0 < coefficient < 256 for coefficient in self.coefficients):
            raise PacketError(f"coefficients {self.coefficients} must lie in 1 .. 255")

    @property
    def mixed(self) -> int:
        """Number n of original packets mixed; 0 for an original packet."""
        return len(self.offsets)

    @property
    def fits_tcp(self) -> bool:
        """Whether the option with TCP's kind and length bytes fits into 40 bytes of options."""
        return 2 + len(self.to_bytes()) <= TCP_OPTION_BYTES

    def to_bytes(self) -> bytes:
        """Return the option: 3n - 1 bytes, or one byte for an original packet."""
        return struct.pack(f">B{max(0, self.mixed - 1)}H", self.mixed, *self.offsets[1:]) + bytes(self.coefficients)

    @classmethod
    def parse(cls, option: bytes) -> "Dc2Option":
        """Return the option that these bytes hold.

        Raises
        ------
        PacketError
            When the length does not belong to the count n, or a rule of the layout is broken.
        """
        if not option:
            raise PacketError("the DC2 option is empty: it holds at least the count n")
        n = option[0]
        expected = 3 * n - 1 if n else 1
        if len(option) != expected:
            raise PacketError(f"the DC2 option has {len(option)} bytes, but n = {n} takes {expected}")
        if n == 0:
            return cls()
        fields = struct.unpack(f">{n - 1}H{n}B", option[1:])
        return cls(offsets=(0, *fields[: n - 1]), coefficients=fields[n - 1 :])


class Dc2Mixer:
    r"""Time-scattering encoder: mixes one original packet at a time into the coded packet under construction.

    Parameters
    ----------
    packet_bytes : int
        Length of each packet, byte, >= 1.
    rng
        Source of the coefficients, anything `numpy.random.default_rng` takes.

    Notes
    -----
    :math:`C \leftarrow C + \alpha_i P_i` in the gap between two packets; :math:`\alpha_i` is uniform on 1 .. 255. The
    products come from logarithms, :math:`a b = \alpha^{\log a + \log b}`, tabulated once for all pairs. Packets may
    be mixed in any order: pre-coding goes forward, post-coding backward through the window.

    References
    ----------
    dc2mtcp u (IV-C) coded packet.

    Examples
    --------
    >>> mixer = Dc2Mixer(packet_bytes=2, rng=1)
    >>> mixer.mix(9, np.array([1, 2], np.uint8))
    >>> mixer.mix(7, np.array([3, 4], np.uint8))
    >>> dsn, option, packet = mixer.finish()
    >>> dsn, option.offsets
    (7, (0, 2))
    """

    def __init__(self, *, packet_bytes: int, rng: np.random.Generator | int | None = None) -> None:
        self.packet_bytes = whole_number("packet_bytes", packet_bytes, minimum=1)
        self._rng = generator(rng)
        self._restart()

    def _restart(self) -> None:
        self._sum: Packets = np.zeros(self.packet_bytes, np.uint8)
        self._factors: dict[int, int] = {}

    def mix(self, dsn: int, packet: Packets) -> None:
        """Add one original packet, shape (packet_bytes,), to the coded packet.

        Raises
        ------
        PacketError
            When the packet has the wrong number or length, is mixed in already, is one too many, or lies too far off.
        """
        _check_dsn(dsn)
        check_packet(packet, packet_bytes=self.packet_bytes, packet_id=dsn)
        if dsn in self._factors:
            raise PacketError(f"packet {dsn} is in this coded packet already: mix each packet once")
        if len(self._factors) == C_MAX:
            raise PacketError(f"this coded packet mixes {C_MAX} packets already: finish it first")
        dsns = [dsn, *self._factors]
        if max(dsns) - min(dsns) > _MAX_OFFSET:
            raise PacketError(f"packets {min(dsns)} and {max(dsns)} are too far apart for a 16-bit offset")
        factor = int(self._rng.integers(1, 256))
        add_scaled(self._sum, MUL[factor], packet)
        self._factors[dsn] = factor

    def finish(self) -> tuple[int, Dc2Option, Packets]:
        """Return DSN, option and payload of the coded packet, and start a new one.

        Raises
        ------
        PacketError
            When no packet was mixed.
        """
        if not self._factors:
            raise PacketError("the coded packet is empty: mix at least one packet")
        dsns = sorted(self._factors)
        offsets = tuple(dsn - dsns[0] for dsn in dsns)
        coefficients = tuple(self._factors[dsn] for dsn in dsns)
        payload = self._sum
        self._restart()
        return dsns[0], Dc2Option(offsets, coefficients), payload


class Dc2Receiver:
    """Connection-level decoder: originals and coded packets of all subflows in, original packets in order out.

    Parameters
    ----------
    packet_bytes : int
        Length of each packet, byte, >= 1.
    window_packets : int
        Columns of the decoding matrix, packets: how far a packet may be ahead of the next one to deliver, and how
        long delivered packets are kept to be taken out of later coded packets.
    preemptive : bool
        Decode with the preemptive algorithm (the default) or by Gauss-Jordan elimination.

    References
    ----------
    dc2mtcp, section V.

    Examples
    --------
    >>> receiver = Dc2Receiver(packet_bytes=1, window_packets=8)
    >>> receiver.add(0, Dc2Option((0, 1), (1, 1)), np.array([7], np.uint8)).tolist()  # P0 + P1
    []
    >>> receiver.add(1, Dc2Option(), np.array([5], np.uint8)).tolist()  # P1 arrives, P0 follows from both
    [[2], [5]]
    """

    def __init__(self, *, packet_bytes: int, window_packets: int = 128, preemptive: bool = True) -> None:
        algorithm: type[ProgressiveDecoder] = Preemptive if preemptive else GaussJordan
        self.matrix = algorithm(whole_number("window_packets", window_packets, minimum=1), packet_bytes=packet_bytes)
        self.next_dsn = 0
        self._oldest = 0

    def add(self, dsn: int, option: Dc2Option, packet: Packets) -> Packets:
        """Take one packet and return the original packets that it lets through, in order, shape (m, packet_bytes).

        Raises
        ------
        PacketError
            When the number is wrong, or the packet lies beyond the window, mixes a packet that is no longer kept, has
            the wrong length, or contradicts what was decoded.
        """
        _check_dsn(dsn)
        last = dsn + (option.offsets[-1] if option.mixed else 0)
        if last < self._oldest:
            return self._deliver()  # nothing in it is still of use
        self._make_room(dsn, last)
        size = self.matrix.columns
        if option.mixed:
            coefficients = np.zeros(size, np.uint8)
            coefficients[[(dsn + offset) % size for offset in option.offsets]] = option.coefficients
            self.matrix.add_coded(coefficients, packet)
        else:
            self.matrix.add_original(dsn % size, packet)
        return self._deliver()

    def _make_room(self, first: int, last: int) -> None:
        """Forget delivered packets until `last` fits, or say why `first` .. `last` cannot be taken."""
        size = self.matrix.columns
        oldest = max(self._oldest, last - size + 1)
        if oldest > self.next_dsn:
            raise PacketError(
                f"packet {last} is more than window_packets = {size} ahead of packet {self.next_dsn}, the next to "
                "deliver: enlarge window_packets"
            )
        if first < oldest:
            raise PacketError(
                f"the coded packet mixes packet {first}, but packets before {oldest} are no longer kept: "
                "enlarge window_packets"
            )
        for gone in range(self._oldest, oldest):
            self.matrix.forget(gone % size)
        self._oldest = oldest

    def _deliver(self) -> Packets:
        """Return the packets from `next_dsn` on that are decoded without a gap."""
        size = self.matrix.columns
        out = []
        while self.next_dsn < self._oldest + size and self.matrix.knows(self.next_dsn % size):
            out.append(self.matrix.packet(self.next_dsn % size))
            self.next_dsn += 1
        return np.array(out, np.uint8).reshape(len(out), self.matrix.packet_bytes)


def _check_dsn(dsn: int) -> None:
    """Raise PacketError unless `dsn` is a data sequence number: a whole number of at least 0."""
    if not isinstance(dsn, int | np.integer) or isinstance(dsn, bool) or dsn < 0:
        raise PacketError(f"dsn = {dsn!r}, but data sequence numbers are whole numbers from 0 on")
