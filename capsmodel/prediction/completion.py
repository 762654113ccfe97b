r"""Completion times of short and long flows of a scheme on a fabric, predicted without packets.

========================== ================================================================= ================ ====
Quantity                   Symbol                                                            Name             Unit
========================== ================================================================= ================ ====
time of a short flow       alone + idle of slow start + turns at the NIC + receiver's port   ``short``        s
                           + paths + sent again
slowdown of a long flow    1 + ((D - 1) sending + idle of slow start + climb after marks)    ``long``         1
                           / alone
========================== ================================================================= ================ ====

A short flow is over before the flows that it meets come or go: what it finds is listed with its probability (sizes,
flows at the NIC, queue at the port and at inner links), and mean and quantiles are read off that list; nothing is drawn
at random. Queues return to their mean while its round trips go on. A long flow sees the average of all: D of
:func:`~capsmodel.prediction.sharing.fair_share_slowdown`. Its quantiles are those of flows that keep what they found,
1 + k with geometric numbers k at each link, and 30% off where flows live long enough to see others come and go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    closed_form,
    in_percent,
    non_negative,
    one_number,
    plain,
    positive,
    probability,
    require,
)
from capsmodel.prediction.fabric import FabricModel, LinkLayer
from capsmodel.prediction.schemes import Basis, SchemeModel
from capsmodel.prediction.sharing import MOST_LOAD, host_links_slowdown, inner_link, port_slowdown
from capsmodel.prediction.start import climb_packets, first_marked, window_idle_s
from capsmodel.prediction.states import States, in_the_mean
from capsmodel.prediction.waits import (
    DELAY_USE,
    MARKED_USE,
    SIZE_PROBS,
    Flows,
    Setting,
    ack_wait,
    beyond_trim,
    inner_states,
    priority_wait,
    shorter_flows_s,
    trimmed_prob,
)
from capsmodel.workloads.sizes import SizeDistribution

SHORT_TERMS = ("alone", "slow start", "NIC", "receiver's port", "paths", "sent again")
LONG_TERMS = ("alone", "host links", "paths", "slow start", "climb after marks")
LONG_BYTES = 1_000_000
"""Flows above this size are long: they see others come and go."""
COMPARED_LOAD = 0.7
"""Largest load of host links at which predictions were compared with packets."""

_LEAST_PROB = 1e-6  # of a number of flows that a long one meets
_Terms = dict[str, float]
_Parts = dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class FlowTimes:
    """Completion times of a class of flows, at each load.

    Attributes
    ----------
    mean : float or ndarray
        Mean, in seconds or as a slowdown; NaN where the class has no flow.
    basis : {"derived", "fitted", "bound"}
        What it rests on (:mod:`capsmodel.prediction.schemes`).
    terms : mapping
        What the mean is the sum of, by name.
    """

    mean: FloatOrArray
    basis: Basis
    terms: Mapping[str, FloatOrArray]
    _states: tuple[States, ...]
    _scalar: bool

    def quantile(self, q: float) -> FloatOrArray:
        """Return a quantile in the unit of the mean, at each load.

        Parameters
        ----------
        q : float
            Probability, in [0, 1).
        """
        share = one_number(probability, "q", q)
        return _of(np.array([states.quantile(share) for states in self._states]), self._scalar)


class ShortFlows(FlowTimes):
    """Completion times of short flows, in seconds."""

    @property
    def mean_s(self) -> FloatOrArray:
        """Mean completion time, in seconds."""
        return self.mean

    def quantile_s(self, q: float) -> FloatOrArray:
        """Return a quantile of the completion time, in seconds."""
        return self.quantile(q)


class LongFlows(FlowTimes):
    """Slowdown of long flows: completion time over that of the flow alone."""

    @property
    def mean_slowdown(self) -> FloatOrArray:
        """Mean slowdown, a ratio."""
        return self.mean

    def quantile_slowdown(self, q: float) -> FloatOrArray:
        """Return a quantile of the slowdown, a ratio; NaN where the mean is a bound, of which it would be none."""
        slowdown = self.quantile(q)
        return slowdown * np.nan if self.basis == "bound" else slowdown


@dataclass(frozen=True, eq=False)
class Prediction:
    """Completion times at one load or at several.

    Attributes
    ----------
    load : float or ndarray
        Payload over the capacity of the links of hosts.
    short : ShortFlows
        Flows of at most `short_bytes`: seconds.
    long : LongFlows
        Flows above `long_bytes`: slowdowns.
    """

    load: FloatOrArray
    short: ShortFlows
    long: LongFlows

    @property
    def terms(self) -> dict[str, Mapping[str, FloatOrArray]]:
        """Terms of both means: seconds of ``short``, slowdowns of ``long``."""
        return {"short": self.short.terms, "long": self.long.terms}

    @property
    def rests_on(self) -> dict[str, Basis]:
        """Basis of the values of ``short`` and ``long``.

        ``"derived"``; ``"fitted"``, with constants that are fitted to packets; ``"bound"``, where flows take longer
        (:mod:`capsmodel.prediction.schemes`).
        """
        return {"short": self.short.basis, "long": self.long.basis}


@closed_form
def predict_fct(
    load: ArrayLike,
    *,
    fabric: FabricModel,
    sizes: SizeDistribution,
    scheme: SchemeModel,
    short_bytes: float = 100_000,
    long_bytes: float = LONG_BYTES,
) -> Prediction:
    r"""Return completion times of short flows, in seconds, and slowdowns of long ones, under a scheme on a fabric.

    Parameters
    ----------
    load : array_like
        Payload over the capacity of the links of hosts, at least 0; a number or one dimension.
    fabric : FabricModel
        The fabric, as :meth:`.FabricModel.leaf_spine` makes it.
    sizes : SizeDistribution
        Flow sizes, in bytes, as :func:`~capsmodel.load_workload` gives them.
    scheme : SchemeModel
        The scheme; ``capsim.model_inputs`` takes it from a scenario.
    short_bytes, long_bytes : float
        Largest short flow, and the size above which flows are long, in bytes, above 0.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or a layer of links is asked for more than 0.99 of what it carries.

    Notes
    -----
    Poisson arrivals between random pairs. With :math:`\rho` the load times what links carry for a byte of payload,

    .. math::
        D=\frac{1}{1-\rho}+\frac{1}{(1-\rho/u)(1-\rho/u+\rho)}-1+\sum_c\frac{2q_c\,C(m_c,\rho_c)}{p_c(1-\rho_c)}

    is by how much sending takes longer for long flows, where two or more use a share u of a receiver's port: their mean
    slowdown is 1 + (D - 1) times the share of their time alone in which they send, but for their start. The terms of
    short flows are in :mod:`capsmodel.prediction.waits`.
    Compared with packets up to a load of 0.7.

    References
    ----------
    Beyond the papers; Bonald and Proutière (2004); Fredj et al. (2001).

    Examples
    --------
    >>> from capsmodel import load_workload
    >>> fabric = FabricModel.leaf_spine(leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
    >>> uet = SchemeModel(
    ...     path="sprayed", control="delays", first_window_packets=43, standing_packets=29, payload_bytes=4086,
    ...     header_bytes=64,
    ... )
    >>> prediction = predict_fct([0.2, 0.4], fabric=fabric, sizes=load_workload("websearch"), scheme=uet)
    >>> (prediction.short.mean_s * 1e6).round(1).tolist(), prediction.long.mean_slowdown.round(2).tolist()
    ([8.8, 11.7], [1.55, 2.53])
    >>> prediction.rests_on
    {'short': 'fitted', 'long': 'fitted'}
    """
    for name, value, kind in (("fabric", fabric, FabricModel), ("scheme", scheme, SchemeModel)):
        require(isinstance(value, kind), f"{name} is {type(value).__name__}, but it must be a {kind.__name__}")
    require(isinstance(sizes, SizeDistribution), f"sizes is {type(sizes).__name__}, but it must be a SizeDistribution")
    loads = non_negative("load", load)
    require(loads.ndim <= 1, f"load has {loads.ndim} dimensions: give a number or a list of numbers")
    limits = [one_number(positive, "short_bytes", short_bytes), one_number(positive, "long_bytes", long_bytes)]
    flows = Flows(sizes, scheme.payload_bytes, *limits)
    points = [_setting(float(one), fabric, flows, scheme) for one in np.atleast_1d(loads)]
    scalar = loads.ndim == 0
    short = ShortFlows(*_gathered([_short(each) for each in points], scheme.short_basis, SHORT_TERMS, scalar))
    long = LongFlows(*_gathered([_long(each) for each in points], scheme.long_basis, LONG_TERMS, scalar))
    return Prediction(plain(loads), short, long)


def _setting(load: float, fabric: FabricModel, flows: Flows, scheme: SchemeModel) -> Setting:
    port_use = {"marks": MARKED_USE, "delays": DELAY_USE}.get(scheme.control, 1.0)
    carried = load * scheme.wire_ratio
    text = f"load = {load:g}: links of hosts are asked for {carried / port_use:.2f} of what they carry"
    rule = f"above {MOST_LOAD:g} no run comes to a steady state: lower the load{in_percent(load)}"
    require(carried / port_use <= MOST_LOAD, f"{text}: {rule}")
    return Setting(fabric, flows, scheme, carried, port_use)


def _gathered(points: list[tuple[States, _Terms]], basis: Basis, names: tuple[str, ...], scalar: bool) -> Any:
    """Return the attributes of a class of flows from those of each load."""
    terms = {name: np.array([terms.get(name, np.nan) for _, terms in points]) for name in names}
    mean = sum(terms.values(), np.zeros(len(points)))
    shown = {name: _of(values, scalar) for name, values in terms.items()}
    return _of(mean, scalar), basis, shown, tuple(states for states, _ in points), scalar


def _of(values: FloatArray, scalar: bool) -> FloatOrArray:
    return values.item() if scalar else values


_NONE = States([], [])


def _short(setting: Setting) -> tuple[States, _Terms]:
    """Return the completion times of short flows, and the terms of their mean, in seconds."""
    flow_bytes = setting.flows.short
    if not len(flow_bytes):
        return _NONE, {}
    parts_of = _in_order if setting.scheme.order == "arrival" else _by_priority
    terms = dict.fromkeys(SHORT_TERMS, 0.0)
    values, probs = [], []
    for kind, crossed in setting.fabric.kinds():
        parts, state_probs = parts_of(setting, crossed, flow_bytes)
        for name, part in parts.items():
            terms[name] += kind * _mean(part, state_probs)
        values.append(sum(sorted(parts.values(), key=np.size), np.zeros(1)))
        probs.append(kind * SIZE_PROBS.reshape(-1, *(1,) * state_probs.ndim) * state_probs)
    again = trimmed_prob(setting)
    terms["sent again"] += 1.5 * again * setting.rtt_s
    if again > 0:  # the port is full for two round trips more: it is so for half of those sent again
        trips = ((0, 1 - again), (1, again / 2), (2, again / 2))
        values = [each + count * setting.rtt_s for count, _ in trips for each in values]
        probs = [each * often for _, often in trips for each in probs]
    return States(values, probs), terms


def _mean(part: FloatArray, probs: FloatArray) -> float:
    """Return the mean of a part over sizes, its first axis, and states; an axis of 1 stands for all."""
    same = tuple(axis for axis, count in enumerate(part.shape[1:]) if count == 1)
    of_states = part[0] if len(part) == 1 else np.tensordot(SIZE_PROBS, part, 1)
    return float(np.sum(of_states * probs.sum(axis=same, keepdims=True)))


def _alone(
    setting: Setting, crossed: tuple[LinkLayer, ...], flow_bytes: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the packets of flows, their times alone in seconds, and the base round trip of their way in seconds."""
    scheme = setting.scheme
    packets = np.maximum(np.ceil(flow_bytes / scheme.payload_bytes), 1.0)
    sizes = {"payload_bytes": scheme.payload_bytes, "header_bytes": scheme.header_bytes}
    alone_s = setting.fabric.ideal_s(flow_bytes, **sizes, crossed=crossed)
    return packets, alone_s, setting.fabric.base_rtt_s(scheme.packet_bytes, scheme.ack_bytes, crossed)


def _in_order(setting: Setting, crossed: tuple[LinkLayer, ...], flow_bytes: FloatArray) -> tuple[_Parts, FloatArray]:
    """Return the parts of the time of short flows, and probabilities; the axes are sizes, NIC, and what ports hold."""
    packets, alone_s, rtt_s = _alone(setting, crossed, flow_bytes)
    flows, waiting, nic_probs = setting.at_nic
    port, busy, port_probs = setting.at_port
    inner, inner_probs = inner_states(setting, crossed)
    shape = (len(port), len(inner))
    queues = [(port, port_probs, (-1, 1)), (inner, inner_probs, (-1,))]
    queue, paths = (_spread(values, shape, axes) for values, _, axes in queues)
    usual = sum((_spread(in_the_mean(*each), shape, axes) for *each, axes in queues), np.zeros(1))
    going_on = _spread(busy, shape, (-1, 1)) * (setting.scheme.control != "losses")
    probs = nic_probs[:, np.newaxis] * np.outer(port_probs, inner_probs).ravel()
    n, flows, waiting = packets[:, np.newaxis, np.newaxis], flows[:, np.newaxis], waiting[:, np.newaxis]
    acks = ack_wait(setting)
    trips = {
        "rtt_s": rtt_s + (waiting + queue + paths + acks) * setting.packet_s,
        "mean_rtt_s": rtt_s + (waiting + usual + acks) * setting.packet_s,
        "pace_s": (1 + flows) * setting.packet_s,
    }
    idle_s = _idle_s(setting, packets, trips, (queue + paths, usual), going_on)
    again = beyond_trim(setting, n / (1 + flows), queue, going_on)
    parts = {
        "alone": alone_s[:, np.newaxis, np.newaxis],
        "slow start": idle_s,
        "NIC": (waiting + n * flows) * setting.packet_s,
        "receiver's port": (queue + n * going_on) * setting.packet_s,
        "paths": paths[np.newaxis, np.newaxis] * setting.packet_s,
        "sent again": np.atleast_3d(again) * rtt_s,
    }
    return parts, probs


def _spread(values: FloatArray, shape: tuple[int, ...], axes: tuple[int, ...]) -> FloatArray:
    """Return values of one of several independent quantities for all their combinations, in one axis."""
    return np.broadcast_to(values.reshape(axes), shape).ravel()


def _idle_s(
    setting: Setting,
    packets: FloatArray,
    trips: Mapping[str, Any],
    queues: tuple[FloatArray, FloatArray],
    busy: FloatArray,
) -> FloatArray:
    """Return the idle time of windows in seconds; those of DCTCP depend on what packets find at ports.

    Where others have q packets or keep the link in use, a port that marks from K packets on has room for K - q. Of
    `queues` the first is found, the second its mean.
    """
    scheme = setting.scheme
    windows: dict[str, Any] = {"first": scheme.first_window_packets, "most": scheme.most_window_packets}
    if scheme.control != "marks":
        return window_idle_s(packets, **trips, **windows)
    marked = (busy > 0) | (queues[0] > 0)
    room, mean_room = (np.where(marked, np.maximum(scheme.standing_packets - each, 0.0), np.inf) for each in queues)
    return window_idle_s(packets, **trips, **windows, room=room, mean_room=mean_room)


def _by_priority(setting: Setting, crossed: tuple[LinkLayer, ...], flow_bytes: FloatArray) -> tuple[_Parts, FloatArray]:
    """Return the parts of the time of short flows that ports serve first, and probabilities."""
    packets, alone_s, rtt_s = _alone(setting, crossed, flow_bytes)
    wait_s = priority_wait(setting, crossed, flow_bytes)
    windows: dict[str, Any] = {"first": setting.scheme.first_window_packets, "most": setting.scheme.most_window_packets}
    delayed_s = np.full(1, rtt_s + float(wait_s.mean()))
    idle_s = window_idle_s(packets, delayed_s, np.full(1, setting.packet_s), **windows)
    parts = {"alone": alone_s[:, np.newaxis], "slow start": idle_s, "receiver's port": wait_s}
    return parts, np.full(wait_s.shape[1], 1 / wait_s.shape[1])


def _long(setting: Setting) -> tuple[States, _Terms]:
    """Return the slowdowns of long flows, and the terms of their mean."""
    flow_bytes = setting.flows.long
    if not len(flow_bytes):
        return _NONE, {}
    packets, alone_s, rtt_s = _alone(setting, setting.fabric.longest, flow_bytes)
    terms = dict.fromkeys(LONG_TERMS, 0.0) | {"alone": 1.0}
    if setting.scheme.order == "remaining":
        slower = shorter_flows_s(setting, flow_bytes) / alone_s
        terms["host links"] = float(slower @ SIZE_PROBS)
        return States([1 + slower], [SIZE_PROBS]), terms
    on_host_links = host_links_slowdown(setting.load, port_use=setting.port_use)
    sending = packets * setting.packet_s / alone_s  # what sharing makes longer; the rest is on the way
    terms["host links"] = (on_host_links - 1) * float(sending @ SIZE_PROBS)
    terms["paths"] = (setting.slowdown - on_host_links) * float(sending @ SIZE_PROBS)
    idle = np.zeros(len(packets))
    if setting.scheme.long_basis != "bound":
        idle = _start_s(setting, packets, rtt_s) / alone_s
    climbs, climb = 0.0, np.zeros(len(packets))
    if setting.scheme.control == "marks":
        # another flow is there when it begins, and is gone when it goes on
        climbs = setting.load * (1 - setting.load)
        pipe = setting.bdp_packets + setting.scheme.standing_packets
        halved = first_marked(setting.scheme.first_window_packets, setting.scheme.standing_packets) / 2
        climb = climb_packets(packets, first=halved, pipe=pipe) * setting.packet_s / alone_s
    terms["slow start"], terms["climb after marks"] = float(idle @ SIZE_PROBS), climbs * float(climb @ SIZE_PROBS)
    numbers, probs = _flows_met(setting)
    start = np.stack([idle, idle + climb])[:, :, np.newaxis]
    often = np.array([1 - climbs, climbs])[:, np.newaxis, np.newaxis] * SIZE_PROBS[:, np.newaxis]
    values = 1 + numbers * sending[:, np.newaxis] + start
    return States([values], [often * probs]), terms


def _start_s(setting: Setting, packets: FloatArray, rtt_s: float) -> FloatArray:
    """Return the mean idle time of slow start of long flows, in seconds, behind what their NIC holds of another one."""
    windows: dict[str, Any] = {"first": setting.scheme.first_window_packets, "most": setting.scheme.most_window_packets}
    waiting, probs = np.zeros(1), np.ones(1)
    if setting.scheme.nic == "arrival":
        _, waiting, probs = setting.at_nic
    found_s = rtt_s + waiting * setting.packet_s
    return np.asarray(window_idle_s(packets, found_s, np.full(1, setting.packet_s), **windows) @ probs)


def _flows_met(setting: Setting) -> tuple[FloatArray, FloatArray]:
    """Return by how much flows slow down that keep what they found, in whole numbers, and the probabilities.

    Flows met at a link are a geometric number with the mean that the link adds to the slowdown.
    """
    total = np.zeros(1)
    at_port = port_slowdown(setting.load, setting.port_use) - 1
    for kind, crossed in setting.fabric.kinds():
        inner = [inner_link(setting.fabric, each, load=setting.load, path=setting.scheme.path)[0] for each in crossed]
        probs = _geometric(setting.load)
        for added in (at_port, *inner, *inner):
            probs = np.convolve(probs, _geometric(added / (1 + added)))
        size = max(len(total), len(probs))
        total = np.pad(total, (0, size - len(total))) + kind * np.pad(probs, (0, size - len(probs)))
    return np.arange(len(total), dtype=float), total / total.sum()


def _geometric(load: float) -> FloatArray:
    """Return the probabilities of 0, 1, ... until what is above is negligible."""
    count = 1 if load < _LEAST_PROB else int(np.ceil(np.log(_LEAST_PROB) / np.log(load)))
    return np.asarray((1 - load) * load ** np.arange(count))


__all__ = ["COMPARED_LOAD", "FlowTimes", "LongFlows", "Prediction", "ShortFlows", "predict_fct"]
