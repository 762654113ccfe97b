"""The range of every quantity of a run, stated once: scenarios, parameters and engines take theirs from here.

Both engines compute with int64, the compiled one without asking whether a sum still fits. What keeps every number
within 63 bits:

==================== ======================================================================================
Number               Why it fits
==================== ======================================================================================
time of an event     an event tree keeps times below 2^52 ps (`MAX_TIME_PS`), the end of the longest run;
                     deadlines and arrivals lie at most one `TIME_S` further
packet time          at most `WIRE_BYTES` of 8·10¹² ps at 1 bit/s: below 2^63 before the division
end of a queue       a port that would need longer than `BACKLOG_PS` for its queue ends the run in an error
end of a host's work  `POOL` packets, the most there can be, of `WORK_S` each take 2^61 ps
queue sums           two words each (``records.PORT``): the first stays below `WORD`, the second counts these
sums of RTTs         halved together with their count before they leave `WORD`
segments, units      int32 in packets and units: `SEGMENTS`, checked when the records are made
==================== ======================================================================================
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import cache
from numbers import Real
from typing import Annotated, Any, get_args, get_type_hints

from msgspec import Meta

from capsim.base.clock import PS_PER_S
from capsmodel.checks import SUM_TOLERANCE, ParameterError, in_percent

MAX_TIME_PS = 2**52 - 1  # 75 minutes; a stamp of the event trees has 52 bits for it, 11 for the order of equal times
BACKLOG_PS = 2**61  # 27 days; with one packet time more it is still within int64
WORD = 2**62  # of a sum in two words; a summand fits into what int64 has above it


@dataclass(frozen=True)
class Bound:
    """The least and the largest value of a quantity.

    Parameters
    ----------
    least, largest : int or float
        Both are allowed; of the type of the quantity.
    unit : str
        In words.
    reason : str
        What the limits follow from.
    or_zero : bool
        Whether 0, which stands for "none" or "by default", is allowed below `least`.
    share : bool
        Whether it is a share of a whole, which somebody may have meant in percent.

    Examples
    --------
    >>> RATE_BPS.holds(1e9), RATE_BPS.holds(0.5)
    (True, False)
    """

    least: float
    largest: float
    unit: str
    reason: str
    or_zero: bool = False
    share: bool = False

    def holds(self, value: float) -> bool:
        """Return whether `value` is allowed."""
        return self.least <= value <= self.largest or (self.or_zero and value == 0)

    def check(self, name: str, value: float) -> None:
        """Raise :class:`ParameterError` unless `value` of the quantity called `name` is allowed."""
        if not self.holds(value):
            least = f"0 or from {shortened(self.least)}" if self.or_zero else f"from {shortened(self.least)}"
            limits = f"{least} to {shortened(self.largest)} {self.unit}"
            meant = in_percent(value) if self.share else ""
            raise ParameterError(f"{name} = {shortened(value)}, but it must be {limits}: {self.reason}{meant}")

    @property
    def meta(self) -> Meta:
        """Return the same for a field of a msgspec struct; structs have no quantity that may be zero besides."""
        return Meta(
            ge=self.least, le=self.largest, extra={"unit": self.unit, "reason": self.reason, "share": self.share}
        )

    @property
    def of_length(self) -> Meta:
        """Return the same for the length of a field of a msgspec struct."""
        return Meta(min_length=int(self.least), max_length=int(self.largest))


_INT32 = 2**31 - 1
_END = "no run lasts longer than 75 minutes"
_MEMORY = "more would fit into no memory"

END_S = Bound(
    1e-12, float(MAX_TIME_PS // PS_PER_S // 100 * 100), "seconds", "time is counted in picoseconds, below 2^52"
)
TIME_S = Bound(0.0, END_S.largest, END_S.unit, _END)
PERIOD_S = Bound(1e-12, END_S.largest, END_S.unit, f"time has steps of a picosecond, and {_END}")
DEADLINE_S = Bound(PERIOD_S.least, PERIOD_S.largest, PERIOD_S.unit, PERIOD_S.reason, or_zero=True)
ESTIMATE_S = Bound(
    PERIOD_S.least, float(WORD // PS_PER_S), "seconds", "picoseconds must fit into 63 bits", or_zero=True
)
PROBE_S = Bound(1e-9, END_S.largest, END_S.unit, "shorter periods fill a run with samples, longer ones outlast it")
RTO_S = Bound(1e-6, END_S.largest, END_S.unit, "shorter ones fill a run with timeouts, longer ones outlast it")
RTO_OR_NONE_S = Bound(RTO_S.least, RTO_S.largest, RTO_S.unit, RTO_S.reason, or_zero=True)
JITTER_S = Bound(0.0, 1.0, "seconds", "no host waits longer between two packets")
ACK_DELAY_S = Bound(1e-12, 0.5, "seconds", "no acknowledgement is put off for longer (RFC 1122, 4.2.3.2)")
WORK_S = Bound(0.0, 1e-3, "seconds", "a host that codes fewer than 1000 packets a second is in no data centre")

RATE_BPS = Bound(1.0, 1e13, "bit/s", "a small packet takes tens of picoseconds, in which time is counted")
PACE_BPS = Bound(1000, 10**13, RATE_BPS.unit, "slower ones send a packet in many minutes, faster ones no link carries")
PACE_OR_NONE_BPS = Bound(PACE_BPS.least, PACE_BPS.largest, PACE_BPS.unit, PACE_BPS.reason, or_zero=True)
PACKET_BYTES = Bound(1, 100_000, "bytes", "no link of a data centre carries longer packets")
HEADER_BYTES = Bound(0, PACKET_BYTES.largest, PACKET_BYTES.unit, PACKET_BYTES.reason)
OPTION_BYTES = Bound(0, 1000, "bytes", "the options of a TCP header have 40 bytes")
LINK_BYTES = Bound(0, 10_000, "bytes", "preamble, gap and framing take tens of bytes")
FLOW_BYTES = Bound(1, 2**40, "bytes", "at 1 Gbit/s it takes two hours, and no run lasts as long")
THRESHOLD_BYTES = Bound(0, FLOW_BYTES.largest, FLOW_BYTES.unit, FLOW_BYTES.reason)
CDF_BYTES = Bound(0.0, float(FLOW_BYTES.largest), FLOW_BYTES.unit, FLOW_BYTES.reason)
WINDOW_BYTES = Bound(1, 2**30, "bytes", "TCP has no larger window (RFC 7323, section 2.3)")
TURN_BYTES = Bound(0, WINDOW_BYTES.largest, "bytes", "no connection has more in flight")
SSTHRESH_BYTES = Bound(1, 2**40, "bytes", "arbitrarily high, as RFC 5681 puts it, is above every window")
WINDOW_PACKETS = Bound(1, WINDOW_BYTES.largest, "packets", WINDOW_BYTES.reason)
BUFFER_PACKETS = Bound(1, _INT32, "packets", "a queue counts its packets in 32 bits")
BUFFER_BYTES = Bound(1, 2**50, "bytes", _MEMORY)
PORT_BYTES = Bound(0, BUFFER_BYTES.largest, BUFFER_BYTES.unit, BUFFER_BYTES.reason)
QUEUE_PACKETS = Bound(0, BUFFER_PACKETS.largest, BUFFER_PACKETS.unit, BUFFER_PACKETS.reason)
SEGMENTS = Bound(1, _INT32, "segments", "packets and units number segments in 32 bits")

NODES = Bound(1, 4096, "of them", "larger fabrics have millions of links")
PODS = Bound(2, 128, "pods", "four of them have 16384 hosts, and more in a pod take too long to build")
PORTS = Bound(1, 2**18, "ports", "more take too long to build: a fat-tree of 54 pods has 236196, and so many would fit")
EDGES = Bound(2, PORTS.largest // 2, "links", PORTS.reason)
GRAPH_NODES = Bound(3, EDGES.largest + 1, "nodes", "as many can be connected by the most links")
SOURCE_PORTS = Bound(1, 65_535, "port numbers", "TCP has 16 bits for one")
HOPS = Bound(0, 254, "hops", "the time to live of an IP packet has 8 bits")
TIER = Bound(0, HOPS.largest, "as a tier", HOPS.reason)
LINK_CHANGES = Bound(0, 1000, "links", "each is matched with all links of the fabric")
DRAWN = Bound(0, PORTS.largest, "switches or links", PORTS.reason)
PARALLEL = Bound(1, NODES.largest, "links between two nodes", NODES.reason)
HOST = Bound(0, NODES.largest**2 - 1, "as the number of a host", "no fabric has more hosts")
HOSTS = Bound(1, NODES.largest**2, "hosts", HOST.reason)
SKIP_HOSTS = Bound(0, NODES.largest**2, "hosts", HOST.reason)
FLOWS = Bound(1, 10**8, "flows", "each needs more than a kilobyte of memory")
FLOW = Bound(0, FLOWS.largest - 1, "as the number of a flow", FLOWS.reason)
ROUNDS = Bound(1, 100_000, "rounds", "the senders of each are drawn by themselves")
ENTRIES = Bound(1, 2**15 - 1, "traffic entries", "a flow notes the number of its entry in 16 bits")
POOL = Bound(0, _INT32, "records", "they have numbers of 32 bits")
SUBFLOWS = Bound(1, _INT32, "subflows", "a subflow has a number of 32 bits")
COPIES = Bound(1, 16, "copies", "each is a subflow of its own that carries the whole flow")
JOINS = Bound(1, COPIES.largest - 1, "subflows", "a flow has at most 16, the first among them")
PRIORITY = Bound(0, 7, "as a class", "Ethernet has eight (IEEE 802.1Q)")
SEED = Bound(0, 2**63 - 1, "as a seed", "it has 63 bits")
SEEDS = Bound(1, 10_000, "seeds", "each is a run of its own")

LOAD = Bound(1e-9, 10.0, "of the capacity", "it is the offered payload over the capacity", share=True)
SLOWDOWN = Bound(1.0, 1e6, "as a ratio", "no flow ends sooner than alone")
RATE_PER_S = Bound(1e-9, 1e12, "per second", "one flow in 30 years to one each picosecond")
OVERSUBSCRIPTION = Bound(1e-3, 1e3, "as a ratio", "beyond, one layer of the fabric plays no part")
PULL_SHARE = Bound(
    0.01, 1.0, "of the rate of the link", "more overflows its queue, and a hundredth is next to nothing", share=True
)
RATIO = Bound(0.0, 1.0, "as a ratio", "it is a weight or a fraction", share=True)
CDF_PROB = Bound(0.0, 1.0 + SUM_TOLERANCE, "as a probability", "only rounding leaves a sum of them above 1", share=True)
LOSS_PROB = Bound(0.0, 1.0, "as a probability", "a link loses none to all of the packets that cross it", share=True)
LOSS_BURST = Bound(1.0, 1e9, "packets", "a loss burst has one packet; of longer ones no simulation sees two")
PROBABILITY = Bound(0.0, 1 - 2.0**-20, "as a probability", "at 1 no number of repair packets is enough", share=True)
FACTOR = Bound(0.0, 1e6, "times", "beyond, nothing is above the threshold")
ENTROPIES = Bound(1, 2**14, "entropies", "a packet has 15 bits for one, and each subflow a byte of memory")
CUBIC_SCALING = Bound(1e-3, 1e6, "segments per second cubed", "beyond, the window stays or jumps at once")
OVERHEAD = Bound(0, 1000, "repair packets for a packet", "the packet pool keeps room for what one event may send")
CODED_PACKETS = Bound(0, _INT32, "packets", SEGMENTS.reason)
DUP_ACKS = Bound(1, _INT32, "duplicate acknowledgements", SEGMENTS.reason)
DUP_ACKS_OR_NONE = Bound(DUP_ACKS.least, DUP_ACKS.largest, DUP_ACKS.unit, DUP_ACKS.reason, or_zero=True)
FULL_ACK_OPTION = Bound(1, 2, "as the number of an option", "RFC 6582 has two")
SACK_BLOCKS = Bound(1, 4, "blocks", "no more fit into one TCP header (RFC 2018, section 3)")
DECAY = Bound(1e-3, 1.0, "of a mean", "slower ones never forget")
METRIC_BITS = Bound(0, 16, "bits", "no header has room for more")
TABLE_ENTRIES = Bound(1, 2**20, "entries", "larger tables fit into no switch")
DIVISOR = Bound(1e-6, FACTOR.largest, "times", "0 divides nothing")
SAMPLES = Bound(1, 16, "queues", "more than these are no sample")
MEMORIES = Bound(0, SAMPLES.largest, SAMPLES.unit, "so many are kept")
NUMBER = Bound(-float(WORD), float(WORD), "", "a record holds numbers of 63 bits")

WIRE_BYTES = int(PACKET_BYTES.largest + (1 + SACK_BLOCKS.largest) * OPTION_BYTES.largest + LINK_BYTES.largest)

# The types of the fields of structs, which msgspec checks; those of parameters are checked by `check_params`.
EndTime = Annotated[float, END_S.meta]
Time = Annotated[float, TIME_S.meta]
Period = Annotated[float, PERIOD_S.meta]
Rate = Annotated[float, RATE_BPS.meta]
FlowBytes = Annotated[int, FLOW_BYTES.meta]
Flows = Annotated[int, FLOWS.meta]
Nodes = Annotated[int, NODES.meta]
HostNumber = Annotated[int, HOST.meta]
BufferPackets = Annotated[int, BUFFER_PACKETS.meta]
BufferBytes = Annotated[int, BUFFER_BYTES.meta]


def shortened(value: object) -> str:
    """Return `value` as text of at most 40 characters, however long it is written out.

    Examples
    --------
    >>> shortened(10**50), shortened(0.5)
    ('1e50 or more', '0.5')
    """
    if isinstance(value, int) and abs(value) >= 10**18:
        return f"{'-' if value < 0 else ''}1e{math.floor(math.log10(abs(value)))} or more"
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def param_bounds(kind: type) -> Mapping[str, Bound]:
    """Return the bound of each number in a parameter dataclass by its name.

    A field names its own, ``Annotated[float, RTO_S]``; one that does not is a time if it ends in ``_s``, and has to fit
    into its record otherwise. Truth values and names are no numbers: their bounds mean nothing.

    Examples
    --------
    >>> from capsim.protocols.queues.ecn import EcnParams
    >>> param_bounds(EcnParams)["threshold_packets"].largest
    2147483647
    """
    return _bounds_of(kind)


@cache
def _bounds_of(kind: type) -> Mapping[str, Bound]:
    hints = get_type_hints(kind, include_extras=True)
    bounds = {}
    for field in fields(kind):
        named = [extra for extra in get_args(hints[field.name]) if isinstance(extra, Bound)]
        bounds[field.name] = named[0] if named else TIME_S if field.name.endswith("_s") else NUMBER
    return bounds


def check_params(params: Any, component: str) -> None:
    """Check every number of a parameter dataclass.

    Raises
    ------
    ParameterError
        One line: ``component.name``, the value and its bound.
    """
    for name, bound in param_bounds(type(params)).items():
        value = getattr(params, name)
        is_number = isinstance(value, Real) and not isinstance(value, bool | Enum)  # one of NumPy is a Real too
        if is_number:
            bound.check(f"{component}.{name}", value)
