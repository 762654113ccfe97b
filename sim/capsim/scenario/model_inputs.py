"""What the closed forms of completion times need of a scenario (:func:`capsmodel.prediction.completion.predict_fct`).

============================ ========================================================================================
Part of the scenario         What has a model
============================ ========================================================================================
fabric                       leaf-spines and fat-trees whose links are all up, alike and lose nothing
traffic                      one Poisson process between random pairs of all hosts
balancer and marking         one path for each flow, or packets sprayed by switches or by entropies
congestion control and queue DCTCP over ports that mark, NSCC over ports that trim; pFabric; Reno and CUBIC over ports
                             that drop, also with priorities, which give bounds
layer and sharing            none; with Reno also coded and replicated flows, as bounds
============================ ========================================================================================

Anything else is refused in one line. A profile becomes numbers first.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from capsim.base.clock import PS_PER_S
from capsim.fabric.kinds import AnyFabric, FatTree, LeafSpine
from capsim.fabric.load import UPLINKS, load_layers
from capsim.fabric.topology import Fabric
from capsim.fabric.traffic import AnyTraffic, Poisson
from capsim.protocols.marking.entropy import Policy
from capsim.protocols.registry import scheme as find
from capsim.roles.components import Scheme
from capsim.scenario.entry_stacks import scheme_of_run
from capsim.scenario.profile import filled
from capsim.scenario.scenario import Scenario
from capsmodel.checks import ParameterError, require
from capsmodel.prediction.completion import Prediction, predict_fct
from capsmodel.prediction.fabric import FabricModel
from capsmodel.prediction.schemes import SchemeModel
from capsmodel.units import BITS_PER_BYTE
from capsmodel.workloads.sizes import SizeDistribution

_PATHS = {"ecmp": "one", "single_path": "one", "rps": "sprayed", "caps": "sprayed"}
_ORDERS = {"priority": "priority", "pfabric": "remaining"}
_CONTROLS = {
    ("dctcp", "ecn"): "marks",
    ("nscc", "trim"): "delays",
    ("tahoe", "pfabric"): "none",
    **{(control, queue): "losses" for control in ("reno", "cubic") for queue in ("droptail", "priority")},
}
_WITH_LOSSES = {"caps", "replicated"}  # layers and sharing that only a bound leaves room for
_KEEP_PATH = {Policy.PLB, Policy.FLOWBENDER}


class ModelInputs(NamedTuple):
    """What :func:`capsmodel.predict_fct` takes."""

    load: float
    fabric: FabricModel
    sizes: SizeDistribution
    scheme: SchemeModel

    def predict(self, load: ArrayLike | None = None, **thresholds: float) -> Prediction:
        """Return the prediction, at other loads if some are given; `thresholds` as of `predict_fct`."""
        loads = self.load if load is None else load
        return predict_fct(loads, fabric=self.fabric, sizes=self.sizes, scheme=self.scheme, **thresholds)


def model_inputs(scenario: Scenario, *, scheme: Scheme | str | None = None) -> ModelInputs:
    """Return load, fabric, sizes and scheme of a scenario as the closed forms of completion times take them.

    Parameters
    ----------
    scenario : Scenario
        A run; its number of flows and its start do not matter, a prediction is of the steady state.
    scheme : Scheme or str, optional
        In place of the one that the scenario names.

    Raises
    ------
    ParameterError
        If a part of the scenario has no model.

    Examples
    --------
    >>> from capsim import LeafSpine, Poisson, Scenario
    >>> fabric = LeafSpine(leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
    >>> traffic = (Poisson(workload="websearch", load=0.4, flows=1000),)
    >>> inputs = model_inputs(Scenario(fabric=fabric, traffic=traffic, profile="100g", scheme="uet"))
    >>> inputs.scheme.control, round(inputs.predict().short.mean_s * 1e6, 1)
    ('delays', 11.6)
    """
    chosen = scheme if isinstance(scheme, Scheme) else find(scenario.scheme if scheme is None else scheme)
    ready = filled(scenario, chosen).scenario
    entry = _only_poisson(ready.traffic)
    built = ready.fabric.build(seed=ready.seed)
    model = _scheme_model(scheme_of_run(ready, chosen), link_bytes=ready.link_bytes)
    require(ready.hosts is None and not ready.payload, "hosts that take time to code have no formula: simulate them")
    return ModelInputs(entry.host_load(built), _fabric_model(ready.fabric, built), entry.size_distribution(), model)


def _only_poisson(traffic: Sequence[AnyTraffic]) -> Poisson:
    entry = traffic[0]
    rule = "completion times have a formula for one Poisson process between random pairs of all hosts"
    alone = len(traffic) == 1 and isinstance(entry, Poisson)
    if not (alone and isinstance(entry, Poisson)):
        kinds = ", ".join(str(each.__struct_config__.tag) for each in traffic)
        raise ParameterError(f"traffic is {kinds}: {rule}: simulate it")
    anywhere = entry.pairs == "random" and not entry.common_partners and entry.hosts is None and not entry.skip_hosts
    require(anywhere and entry.stack is None, f"traffic is of some pairs, hosts or stacks: {rule}: simulate it")
    return entry


def _fabric_model(kind: AnyFabric, built: Fabric) -> FabricModel:
    same = not (kind.links or kind.faults or kind.loss_prob)
    require(same, "fabric has links that differ, fail or lose packets, which no formula has: simulate it")
    up, host = load_layers(built)[UPLINKS].ports[0], built.host_port[0]
    rates: dict[str, Any] = {"rate_bps": float(built.rate_bps[host]), "delay_s": float(built.delay_ps[host]) / PS_PER_S}
    inner: dict[str, Any] = {"rate_bps": float(built.rate_bps[up]), "delay_s": float(built.delay_ps[up]) / PS_PER_S}
    if isinstance(kind, LeafSpine):
        named: dict[str, Any] = {f"spine_{name}": value for name, value in inner.items()}
        counts = {"leaves": kind.leaves, "hosts_per_leaf": kind.hosts_per_leaf, "spines": kind.spines}
        return FabricModel.leaf_spine(**counts, **rates, **named)
    if isinstance(kind, FatTree):
        whole = kind.built_pods in (None, kind.pods)
        require(whole, "fabric.built_pods leaves pods out, of which no formula knows: give the whole tree")
        named = {f"inner_{name}": value for name, value in inner.items()}
        return FabricModel.fat_tree(pods=kind.pods, hosts_per_edge=kind.hosts_per_edge, **rates, **named)
    raise ParameterError(f"fabric.kind = {kind.kind!r} has no formula: there are leaf-spine and fat-tree")


def _scheme_model(scheme: Scheme, *, link_bytes: int) -> SchemeModel:
    stack = scheme.long
    transport: Any = stack.transport.params
    control = _control(scheme)
    first = float(getattr(transport, "initial_window_packets", 1))
    if stack.congestion.name == "nscc":
        first = _nscc_window(stack.congestion.params, transport.mss_bytes)
    most = float(getattr(transport, "most_window_packets", transport.max_window_bytes / transport.mss_bytes))
    return SchemeModel(
        path=_path(scheme),
        order=_ORDERS.get(scheme.queue.name, "arrival"),
        nic="arrival" if scheme.nic.rank is None else "turns",
        control=control,
        first_window_packets=first,
        most_window_packets=max(most, first),
        standing_packets=_standing_packets(scheme, control, transport.mss_bytes + transport.header_bytes),
        payload_bytes=transport.mss_bytes,
        header_bytes=transport.header_bytes + link_bytes,
        ack_bytes=int(getattr(transport, "ack_bytes", 64)) + link_bytes,
    )


def _control(scheme: Scheme) -> str:
    """Return what makes windows smaller; refuse a scheme of other parts."""
    control = _CONTROLS.get((scheme.long.congestion.name, scheme.queue.name))
    if control == "delays" and not scheme.queue.params.trim_bytes:
        control = "losses"
    parts = {name for stack in scheme.stacks for name in (stack.layer.name, stack.sharing.name)} - {"none", "single"}
    same = scheme.short.congestion.name == scheme.long.congestion.name and scheme.balancer.name in _PATHS
    if control is None or not same or parts - (_WITH_LOSSES if control == "losses" else set()):
        known = "schemes of Reno, DCTCP, NSCC or pFabric that hash flows or spray packets have one"
        raise ParameterError(f"{scheme.name} has no formula of its completion times, {known}: simulate it")
    return control


def _path(scheme: Scheme) -> str:
    marking = scheme.long.marking
    if marking.name == "entropy" and marking.params.policy not in _KEEP_PATH:
        return "sprayed"
    return _PATHS[scheme.balancer.name]


def _nscc_window(params: Any, mss_bytes: int) -> float:
    return float(max(params.window_share * params.rate_bps * params.base_rtt_s / (BITS_PER_BYTE * mss_bytes), 1.0))


def _standing_packets(scheme: Scheme, control: str, packet_bytes: int) -> float:
    if control == "marks":
        return float(scheme.queue.params.threshold_packets)
    return scheme.queue.params.limit_bytes / packet_bytes if control == "delays" else 0.0
