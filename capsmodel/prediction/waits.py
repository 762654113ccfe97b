r"""What a packet of a short flow finds on its way: at the NIC of its host, the receiver's port, and links between.

========================== ==================================================================== ====================
Where                      What                                                                 Name
========================== ==================================================================== ====================
NIC that sends in turns    k other flows, geometric of parameter ρ: a packet each k + 1 packet  :func:`nic_states`
                           times; and half a packet being sent
NIC that sends as it came  with probability ρ what the window of another flow has beyond the    :func:`nic_states`
                           bandwidth-delay product
receiver's port            two or more flows fill it as they would a link alone, and leave      :func:`queued_probs`
                           their queue to the last one where ports mark; the queue is uniform   :func:`port_states`
                           up to the length from which ports trim, exponential of mean
                           `MARKED_SHARE` K where they mark; with probability ρ one goes on
                           sending while the packets of the short flow arrive
port towards the sender    acknowledgements of a scheme whose ports mark wait there as data     :func:`ack_wait`
                           do at the receiver's
inner link, one path       the same queue, `INNER_SHARE` of it, with Erlang's probability that  :func:`inner_states`
                           the link is full
inner links, sprayed       an M/D/1 queue of packets at each                                    :func:`inner_states`
port that serves by        the packet being sent, and other short flows (Cobham)                :func:`priority_wait`
priority
port that serves the flow  that, and the mean response under SRPT less the size                 :func:`priority_wait`
with the least left
port that trims            packets that come while it sends those of others, and find more      :func:`beyond_trim`
                           than its limit with the queue, are sent again a round trip later;
                           so is what arrives in the two round trips for which a burst of a     :func:`trimmed_prob`
                           new flow above BDP fills it, and half of that once more
========================== ==================================================================== ====================

The constants below are for schemes whose windows marks or delays make smaller. Those called fitted are
within a standard error of what ``tests/agreement/measured/prediction_fit.py`` finds on a leaf-spine of 4 x 6 x 6, with
which no test compares; ``docs/prediction.md`` has its table.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from capsmodel.checks import FloatArray
from capsmodel.prediction.fabric import FabricModel, LinkLayer
from capsmodel.prediction.schemes import SchemeModel
from capsmodel.prediction.sharing import fair_share_slowdown, inner_link, inner_load, port_probs
from capsmodel.prediction.states import exponential, geometric, uniform
from capsmodel.queueing.mg1 import mg1_mean_wait, priority_mean_waits
from capsmodel.queueing.service import Empirical
from capsmodel.queueing.srpt import srpt_mean_response_of_size
from capsmodel.units import BITS_PER_BYTE
from capsmodel.workloads.sizes import SizeDistribution

MARKED_SHARE = 0.6
"""Mean queue of a port that marks and is shared, over its threshold K; fitted."""
MARKED_USE = 0.95
"""Share of a port to which flows of DCTCP send together that they use; fitted."""
DELAY_USE = 0.93
"""The same of NSCC; fitted."""
INNER_SHARE = 0.4
"""Queue of an inner link that marks and is full, over that of a shared port; set by hand."""
IN_ORDER_SHARE = 0.25
"""What a flow has in a NIC in order of arrival, after its slow start, over the bandwidth-delay product; set by hand."""

SIZE_PROBS = np.diff(_SIZE_CUTS := np.concatenate([np.arange(16) / 20, 1 - 0.2 * 0.65 ** np.arange(8), [1.0]]))
"""Probabilities of the sizes of a class, of which large ones are closer: with 512 equally likely ones 99th percentiles
of 30 predictions differ by 1% (root mean square), at most by 3%."""
_TAIL = 1 - 10.0 ** (-6 * (np.arange(120) + 0.5) / 120)
_TAIL_PROBS = -np.diff(10.0 ** (-6 * np.arange(121) / 120)) / (1 - 1e-6)
_PLACES = (np.arange(12) + 0.5) / 12  # within a flow
_WINDOW_CUTS = np.concatenate([np.arange(6) / 8, 1 - 0.25 * 0.5 ** np.arange(4), [1.0]])  # of what windows have
_NORMAL = special.ndtri((np.arange(8) + 0.5) / 8)


@dataclass(frozen=True)
class Flows:
    """Sizes of flows as predictions list them, the same at every load.

    Attributes
    ----------
    sizes : SizeDistribution
        In bytes.
    payload_bytes : int
        Of a full packet.
    short_bytes, long_bytes : float
        Largest short flow, and the size above which flows are long, in bytes.
    """

    sizes: SizeDistribution
    payload_bytes: int
    short_bytes: float
    long_bytes: float

    @cached_property
    def mean_packets(self) -> float:
        """Mean size of a flow in packets."""
        return self.sizes.expectation(lambda x: x) / self.payload_bytes

    @cached_property
    def short_load(self) -> float:
        """Share of the load that is of short flows."""
        below = float(self.sizes.expectation(lambda x: x, upto=self.short_bytes))
        return below / (self.mean_packets * self.payload_bytes)

    @cached_property
    def short(self) -> FloatArray:
        """Sizes of short flows in bytes, of probabilities `SIZE_PROBS`; empty if there is none."""
        return self._class_bytes(0.0, float(self.sizes.cdf(self.short_bytes)))

    @cached_property
    def long(self) -> FloatArray:
        """The same of long flows."""
        return self._class_bytes(float(self.sizes.cdf(self.long_bytes)), 1.0)

    def _class_bytes(self, low: float, high: float) -> FloatArray:
        places = (_SIZE_CUTS[1:] + _SIZE_CUTS[:-1]) / 2
        sizes = np.asarray(self.sizes.quantile(low + places * (high - low)))
        return np.maximum(sizes, 1.0) if high > low else np.zeros(0)

    @cached_property
    def tail_bytes(self) -> FloatArray:
        """Sizes of all flows in bytes, of probabilities `_TAIL_PROBS`, closer where they are large."""
        return np.maximum(np.asarray(self.sizes.quantile(_TAIL)), 1.0)

    @cached_property
    def service(self) -> Empirical:
        """The same as a distribution of service times."""
        return Empirical(tuple(self.tail_bytes.tolist()), tuple((_TAIL_PROBS / _TAIL_PROBS.sum()).tolist()))

    def share_above(self, packets: float) -> float:
        """Return the share of flows of more than so many packets."""
        return 1 - float(self.sizes.cdf(packets * self.payload_bytes))


@dataclass(frozen=True)
class Setting:
    """A load on a fabric under a scheme.

    Attributes
    ----------
    fabric, flows, scheme : FabricModel, Flows, SchemeModel
        What is at a load.
    load : float
        Load ρ of the links of hosts with all that they carry, below `port_use`.
    port_use : float
        Share u of a receiver's port that two or more flows use together.
    """

    fabric: FabricModel
    flows: Flows
    scheme: SchemeModel
    load: float
    port_use: float

    @cached_property
    def packet_s(self) -> float:
        """Time of a full packet on the link of a host, in seconds."""
        return BITS_PER_BYTE * self.scheme.packet_bytes / self.fabric.rate_bps

    @cached_property
    def rtt_s(self) -> float:
        """Base round-trip time of the longest way, in seconds."""
        return self.fabric.base_rtt_s(self.scheme.packet_bytes, self.scheme.ack_bytes)

    @cached_property
    def bdp_packets(self) -> float:
        """Packets that the rate of a host has under way in a base round trip."""
        return float(np.ceil(self.rtt_s / self.packet_s))

    @cached_property
    def slowdown(self) -> float:
        """Mean slowdown of flows that share all links."""
        return fair_share_slowdown(self.fabric, load=self.load, path=self.scheme.path, port_use=self.port_use)

    @cached_property
    def queued(self) -> tuple[float, float, float]:
        """How often no flow, one flow without a queue, and flows with a queue send to a host (:func:`queued_probs`)."""
        return queued_probs(self)

    @cached_property
    def at_nic(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """States of the NIC of a host (:func:`nic_states`)."""
        return nic_states(self)

    @cached_property
    def at_port(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """States of the receiver's port (:func:`port_states`)."""
        return port_states(self)


def nic_states(setting: Setting) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return states of the NIC: other flows in turns, what waits before the flow in packets, and probabilities."""
    rho, half = setting.load, setting.load / 2  # a packet is being sent
    if setting.scheme.nic == "turns":
        flows, probs = geometric(rho)
        return flows, np.full(len(flows), half), probs
    if setting.scheme.control == "losses":  # a bound: nobody knows what its windows keep there
        return np.zeros(1), np.full(1, half), np.ones(1)
    waiting, slow_start = _window_beyond_pipe(setting)
    waiting = np.concatenate([[0.0], waiting, [IN_ORDER_SHARE * setting.bdp_packets]])
    of_windows = rho * slow_start * np.diff(_WINDOW_CUTS)
    return np.zeros(len(waiting)), waiting, np.concatenate([[1 - rho], of_windows, [rho * (1 - slow_start)]])


def _window_beyond_pipe(setting: Setting) -> tuple[FloatArray, float]:
    """Return what a flow in slow start has at its NIC, in packets, and how often one is in slow start.

    The values are those in the middle of each of `_WINDOW_CUTS`. A flow met there is at a uniform place within it. Slow
    start ends when another flow to the same host, large enough to fill the port beyond K, arrives.
    """
    scheme = setting.scheme
    packets = np.maximum(setting.flows.tail_bytes / scheme.payload_bytes, 1.0)[:, np.newaxis]
    sent = packets * _PLACES
    window = np.minimum(np.minimum(packets - sent, scheme.first_window_packets + sent), scheme.most_window_packets)
    arrivals = setting.load / setting.flows.mean_packets * setting.flows.share_above(scheme.standing_packets)
    ends = arrivals * setting.slowdown
    weight = _TAIL_PROBS[:, np.newaxis] * packets * np.ones(len(_PLACES))
    growing = weight * np.exp(-ends * sent)
    beyond = np.maximum(window - setting.bdp_packets, 0.0)
    order = np.argsort(beyond, axis=None)
    upto = np.cumsum(growing.ravel()[order])
    places = (_WINDOW_CUTS[1:] + _WINDOW_CUTS[:-1]) / 2
    return beyond.ravel()[order][np.searchsorted(upto, places * upto[-1])], float(growing.sum() / weight.sum())


def _standing(setting: Setting) -> tuple[FloatArray, FloatArray]:
    """Return the queue of a port that flows share, in packets, and probabilities."""
    scheme = setting.scheme
    if scheme.control == "marks":
        values, probs = exponential()
        return MARKED_SHARE * scheme.standing_packets * values, probs
    if scheme.control == "delays":
        values, probs = uniform()
        return scheme.standing_packets / 2 * values, probs
    return np.zeros(1), np.ones(1)


def queued_probs(setting: Setting) -> tuple[float, float, float]:
    r"""Return how often no flow, one flow without a queue, and flows with a queue send to a host.

    Notes
    -----
    Of flows that share two host links max-min fair two and more fill one together as often as they would a link alone
    (:func:`~capsmodel.prediction.sharing.port_probs`), within 16% for loads up to 0.7. More head to a host,
    :math:`\rho(1+\rho)/(1-\rho)` in the mean, but their own hosts hold them back. Where ports mark, the queue that two
    flows leave stays while the last one keeps the link in use: one flow was two before with probability
    :math:`\rho/(1+\rho)`, by the balance of arrivals and departures. Windows that delays guide take it away.
    """
    none, one, more = port_probs(setting.load, setting.port_use)
    left = one * setting.load / (1 + setting.load) if setting.scheme.control == "marks" else 0.0
    return none, one - left, more + left


def port_states(setting: Setting) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return states of the receiver's port: queue in packets, 1 where another flow goes on sending, probabilities."""
    none, one, often = setting.queued
    queue, probs = _standing(setting)
    return (
        np.concatenate([[0.0, 0.0], queue]),
        np.concatenate([[0.0, 1.0], np.ones(len(queue))]),
        np.concatenate([[none, one], often * probs]),
    )


def ack_wait(setting: Setting) -> float:
    """Return the mean wait of acknowledgements at the port towards the sender, in packets.

    With all queues that they find in place of their mean, 99th percentiles are the same within 3%. Where ports trim
    they are sent first, and wait for nothing.
    """
    queue, probs = _standing(setting)
    return setting.queued[-1] * float(queue @ probs) if setting.scheme.control == "marks" else 0.0


def inner_states(setting: Setting, crossed: tuple[LinkLayer, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the wait at inner links, up and down, in packet times of a host, and probabilities."""
    if not crossed:
        return np.zeros(1), np.ones(1)
    rates = [setting.fabric.rate_bps / layer.rate_bps for layer in crossed]
    if setting.scheme.path == "sprayed":
        loads = [inner_load(setting.fabric, layer, load=setting.load) for layer in crossed]
        waits = [2 * mg1_mean_wait(load, mean_service=1, second_moment_service=1) for load in loads]
        return np.array([np.dot(waits, rates)]), np.ones(1)
    full = [inner_link(setting.fabric, layer, load=setting.load, path="one")[1] for layer in crossed]
    often = 1 - float(np.prod([(1 - each) ** 2 for each in full]))
    queue, probs = _standing(setting)
    packets = INNER_SHARE * float(np.dot(full, rates) / max(sum(full), 1e-300)) * queue
    return np.concatenate([[0.0], packets]), np.concatenate([[1 - often], often * probs])


def priority_wait(setting: Setting, crossed: tuple[LinkLayer, ...], flow_bytes: FloatArray) -> FloatArray:
    """Return the wait of short flows where ports serve by priority or by what is left, in seconds.

    Returns
    -------
    ndarray
        Equally likely values along the second axis, for each of `flow_bytes`.
    """
    hops = [(setting.load, 1.0), (setting.load, 1.0)]
    for layer in crossed:
        one = (inner_load(setting.fabric, layer, load=setting.load), setting.fabric.rate_bps / layer.rate_bps)
        hops += [one, one]
    urgent = setting.flows.short_load if setting.scheme.order == "priority" else 0.0
    means = [
        slower
        * float(priority_mean_waits([load * urgent, load * (1 - urgent)], mean_services=1, second_moments_service=1)[0])
        for load, slower in hops
    ]
    squares = [load * slower**2 / 3 for load, slower in hops]  # of a packet of which a uniform part is left
    deviation = float(np.sqrt(max(sum(squares) - sum(mean**2 for mean in means), 0.0)))
    wait_s = np.maximum(sum(means) + deviation * _NORMAL, 0.0) * setting.packet_s * np.ones((len(flow_bytes), 1))
    if setting.scheme.order == "remaining":
        spread = (np.arange(len(_NORMAL)) + 0.5) / len(_NORMAL) * 2  # uniform from 0 to twice the mean
        wait_s = wait_s + shorter_flows_s(setting, flow_bytes)[:, np.newaxis] * spread
    return np.asarray(wait_s)


def shorter_flows_s(setting: Setting, flow_bytes: FloatArray) -> FloatArray:
    """Return the mean time that flows with less left take from flows of some sizes, at both host links, in seconds."""
    response = np.asarray(srpt_mean_response_of_size(flow_bytes, load=setting.load, service=setting.flows.service))
    return np.asarray(2 * np.maximum(response - flow_bytes, 0.0) * BITS_PER_BYTE / setting.fabric.rate_bps)


def beyond_trim(setting: Setting, burst: FloatArray, queue: FloatArray, busy: FloatArray) -> FloatArray:
    """Return 1 where packets of a short flow that come in a burst lengthen the queue of a port until it trims, else 0.

    Parameters
    ----------
    setting : Setting
        Load, fabric and scheme.
    burst : ndarray
        Packets that come while the port sends those of others, in packets.
    queue, busy : ndarray
        States of the port (:func:`port_states`).
    """
    if setting.scheme.control != "delays":
        return np.zeros(1)
    first = np.minimum(burst, setting.scheme.first_window_packets)
    return np.asarray(queue + first * busy > setting.scheme.standing_packets, dtype=float)


def trimmed_prob(setting: Setting) -> float:
    r"""Return the probability that a short flow meets a port that the burst of a new flow has filled.

    Notes
    -----
    Flows above BDP begin to the same host at :math:`\rho P(N>BDP)/E[N]` a packet time. One that has its NIC for itself,
    with probability :math:`1-\rho` where hosts send in turns, sends its first window at the rate of the link: where
    that is in use it fills the port for two round trips.
    """
    if setting.scheme.control != "delays":
        return 0.0
    lone = 1 - setting.load if setting.scheme.nic == "turns" else 1.0
    bursts = lone * setting.load / setting.flows.mean_packets * setting.flows.share_above(setting.bdp_packets)
    return float(-np.expm1(-setting.load * bursts * 2 * setting.rtt_s / setting.packet_s))


__all__ = [
    "Setting",
    "ack_wait",
    "beyond_trim",
    "inner_states",
    "nic_states",
    "port_states",
    "priority_wait",
    "shorter_flows_s",
    "trimmed_prob",
]
