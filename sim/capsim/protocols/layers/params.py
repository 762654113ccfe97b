"""Parameters of the coding layer of CAPS, and the evidence for each default.

The defaults are those of the scheme ``caps``. They follow from the text of the paper and, where that is silent, from
the authors' public code (their ns-2 patch, and a kernel module for Mininet), never from the result that they give.

**What is acknowledged, and when** is the one point where the paper contradicts itself. Section IV (3) delivers packets
to TCP once their unit is decoded, and the kernel module does so. But p_B of Section VI-A is a share of acknowledgements
by their RTT, and if all ACKs of a unit leave when it decodes, none is late compared with the others and p_B is 0.
Appendix A explains timeouts by losses among the last packets of a flow, so other losses must cause duplicate ACKs, and
Appendix B finds reordered packets above the code, which a receiver that decodes before it delivers cannot have. The
ns-2 receiver (``outputpacket`` in ``tcp-sink.cc``) gives each of the first k arrivals of a unit the unit's next
sequence number and acknowledges it at once, as the paper's reference [20] (Sundararajan et al. 2009) acknowledges
degrees of freedom. Only so does the whole paper hold together: ``ack = "packet"``. The other variant is ``ack =
"decoded"``.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from typing import Annotated

from capsim.base import bounds
from capsim.protocols.layers.blocking import Threshold
from capsim.protocols.layers.decoder import Release
from capsmodel.checks import require

MOST_SIZES = 2**17  # of a unit, each compared by Eq. 4: about half a second


class Acknowledged(IntEnum):
    """What makes an ACK: each packet that is new to its unit, as it comes, or the decoding of a unit."""

    PACKET = 0
    DECODED = 1


class UnitSize(IntEnum):
    """How many packets fill a unit: the window (caps VI-A), the optimum of Eq. 4 (VI-C), or a fixed number."""

    WINDOW = 0
    OPTIMAL = 1
    FIXED = 2


@dataclass(frozen=True, kw_only=True)
class CodingParams:
    """Parameters of the coding layer.

    Parameters
    ----------
    ack : Acknowledged
        What makes an ACK; see the top of :mod:`capsim.protocols.layers.params`.
    systematic : bool
        Whether the source packets leave as they are, at once, and the repair packets behind the last of a unit (both
        codes of the authors). If not, k packets wait for each other and k + r coded ones leave (IV (1), Fig. 5).
    unit_size : UnitSize
        What fills a unit: the window (VI-A). ``"optimal"`` is Section VI-C; while p_B is 0, where Eq. 4 would have
        units of one packet and nothing coded, it takes the window.
    fixed_packets : int
        k for ``unit_size = "fixed"`` (the ns-2 code: 10).
    coded_packets : int
        Only the first so many packets of a flow are coded; 0 for all (CAPS_dark: 100 KB).
    max_overhead : float
        Largest r / k by the formula, which has no limit as p_B goes to 1. Not in the paper.
    min_repair : int
        Smallest r, packets. The formula has none.
    repair_partial : bool
        Whether a unit that a flow's end leaves smaller gets repair packets (by the formula of VI-B, yes; in the ns-2
        code none).
    initial_blocking_prob : float
        p_B before the first sampling period with an ACK. The paper says that it is known in advance (VI-A), not how;
        the ns-2 code begins with 2 repair packets for 10, which is p_B = 1/6. Fractions with a denominator up to 16,
        and thousandths, are exact.
    resend_copies : float
        With ``ack = "packet"``: each retransmission takes so many times r packets of its unit along, rounded up (the
        ns-2 code: 1/2; not in the paper).
    sampling_s : float
        Sampling period of p_B, in seconds (VII: 200 us); 0 for one that never ends (p_B over all ACKs, VI-B read
        without VII).
    rtt_factor : float
        An RTT is large above this multiple of the usual one (VI-A: 2).
    threshold : Threshold
        Which RTT is the usual one: the smoothed (IX-C) or the average of all (VI-A).
    flush_s : float
        Not systematic: longest wait of a packet in the encoding buffer, in seconds; 0 for no limit. Not in the paper.
    request_s : float
        With ``ack = "decoded"`` of a systematic code, released in order: how long a unit is waited for after its last
        packet or one of a later unit, in seconds, before the transport repeats what is missing; 0 for no limit. With a
        limit a unit is full with k packets or at the end of a flow, and its repair packets leave before the next unit.
        Not in the paper.
    release : Release
        With ``ack = "decoded"``: whether a decoded unit waits for all earlier ones.
    rtt_short_s : float
        For the optimum of Eq. 4: RTT of free paths, in seconds (VI-D).
    rtt_long_s : float
        For the optimum of Eq. 4: RTT of blocked paths, in seconds (VI-D).
    packet_s : float
        For the optimum of Eq. 4: time of a packet on the link, in seconds (VI-D).
    """

    ack: Acknowledged = Acknowledged.PACKET
    systematic: bool = True
    unit_size: UnitSize = UnitSize.WINDOW
    fixed_packets: Annotated[int, bounds.WINDOW_PACKETS] = 10
    coded_packets: Annotated[int, bounds.CODED_PACKETS] = 0
    max_overhead: Annotated[float, bounds.OVERHEAD] = 1.0
    min_repair: Annotated[int, bounds.OVERHEAD] = 0
    repair_partial: bool = True
    initial_blocking_prob: Annotated[float, bounds.PROBABILITY] = 1 / 6
    resend_copies: Annotated[float, bounds.OVERHEAD] = 0.0
    sampling_s: Annotated[float, bounds.ESTIMATE_S] = 200e-6
    rtt_factor: Annotated[float, bounds.FACTOR] = 2.0
    threshold: Threshold = Threshold.SMOOTHED
    flush_s: Annotated[float, bounds.DEADLINE_S] = 0.0
    request_s: Annotated[float, bounds.DEADLINE_S] = 0.0
    release: Release = Release.IN_ORDER
    rtt_short_s: float = 100e-6
    rtt_long_s: float = 3e-3
    packet_s: float = 12e-6

    @property
    def receive_timer(self) -> bool:
        """Whether units are waited for only so long, for which the receiver has a timer."""
        return self.request_s > 0

    @property
    def emits_unasked(self) -> bool:
        """Whether packets may wait in the layer; of a systematic code with an ACK for each packet all leave at once."""
        return not (self.systematic and self.ack == Acknowledged.PACKET)

    def check_window(self, window: int) -> None:
        """Refuse what does not go together, and windows whose best size would take too long to find, each time anew.

        Parameters
        ----------
        window : int
            Most segments that TCP has in flight.

        Raises
        ------
        ParameterError
            If ``unit_size = "optimal"`` and the window has more than `MOST_SIZES` packets: Eq. 4 is evaluated for units
            of each size up to it. If `request_s` is set for units of which nothing is held.
        """
        holds = self.systematic and self.ack == Acknowledged.DECODED and self.release == Release.IN_ORDER
        require(
            self.request_s == 0 or holds,
            "layer.request_s is for packets that are held behind a gap: set ack = 'decoded', systematic = true and "
            "release = 'in_order', or request_s = 0",
        )
        require(
            self.unit_size != UnitSize.OPTIMAL or window <= MOST_SIZES,
            f"layer.unit_size = 'optimal' with windows of {window} packets: units of every size up to the window are "
            f"compared, and at most {MOST_SIZES} fit: lower transport.max_window_bytes",
        )

    def most_source_packets(self, window: int, *, largest_flow: int) -> int:
        """Return the k of the largest unit that there can be, in packets; parameters as below."""
        full = self.fixed_packets if self.unit_size == UnitSize.FIXED else window
        return min(full, largest_flow, self.coded_packets or largest_flow)

    def most_repair_packets(self, window: int, *, largest_flow: int) -> int:
        """Return how many packets beyond TCP's own one event may send, of one connection, in packets.

        Parameters
        ----------
        window : int
            Most segments that TCP has in flight.
        largest_flow : int
            Segments of the largest flow.
        """
        largest_unit = min(largest_flow, max(window, self.fixed_packets))
        # New segments fill units of at least one packet each, and one that was begun before.
        repair = max(self.max_overhead, self.min_repair) * (window + largest_unit)
        copies = ceil(self.resend_copies * max(self.max_overhead * largest_unit, self.min_repair))
        return ceil(repair) + window * copies
