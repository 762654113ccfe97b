"""Small set-ups for tests of the engines."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from capsim import ACCEPT, REFUSE, Dumbbell, FatTree, FlowList, LeafSpine, ParallelPaths, Queue, Scheme, scheme
from capsim.base.objects import slotted
from capsim.engines import run
from capsim.engines.own_memory import param_record
from capsim.engines.reference import run as run_reference
from capsim.engines.state import TRACE_OFF, TRACE_PACKETS, RawRecords, Setup
from capsim.fabric.base import FabricKind
from capsim.protocols.registry import NICS
from capsim.records import ACK, CODED, CORRUPTED, DATA, ENQUEUED, EVICTED, LINK_DOWN, RETRANSMITTED
from capsim.roles.hooks import NETWORK_ROLES, ROLES
from capsim.roles.own import first_record

# How the compiled engine stores queues
CHAINS = {"head", "tail", "queue_head", "queue_head_ps", "wait_head", "wait_tail"}
SAME_COUNTERS = (
    "now_ps",
    "traversals",
    "open_subs",
    "subs",
    "units",
    "unroutable",
    "in_flight",
    "ring_end",
    "data_end",
)

LEAF_SPINE = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=12)
FAT_TREE = FatTree(pods=4, hosts_per_edge=3, delay_s=2e-6, buffer_bytes=20_000)
PARALLEL = ParallelPaths(paths=4, hosts_per_side=4, delay_s=10e-6, buffer_packets=20)
DUMBBELL = Dumbbell(hosts_per_side=3, delay_s=5e-6, buffer_packets=10)
LINK = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=50e-6, buffer_packets=1000)
FAR_SWITCH = 3  # of `LINK`: hosts 0 and 1, switches 2 and 3
MSS = 1460


def flow_list(rows: Sequence[tuple[int, int, int, float]], *, threshold_bytes: int = 100_000) -> FlowList:
    """Return flows of rows src, dst, bytes, start in us, in order of start."""
    ordered = sorted(rows, key=lambda row: row[3])
    src, dst, size, start = (np.array(column) for column in zip(*ordered, strict=True))
    return FlowList(
        src=src.astype(np.int32),
        dst=dst.astype(np.int32),
        flow_bytes=size.astype(np.int64),
        start_ps=np.round(start * 1e6).astype(np.int64),
        short=size <= threshold_bytes,
        tag=np.zeros(len(src), np.int16),
        input_row=np.arange(len(src), dtype=np.int32),
    )


def random_flows(n_hosts: int, *, n_flows: int, rng: Any, within_us: float = 500.0) -> FlowList:
    """Return flows between random hosts, most of them short."""
    draw = np.random.default_rng(rng)
    rows = []
    for _ in range(n_flows):
        src, dst = draw.choice(n_hosts, 2, replace=False)
        size = int(draw.choice([draw.integers(1, 3000), draw.integers(3000, 100_001), draw.integers(100_001, 400_000)]))
        rows.append((int(src), int(dst), size, float(np.round(draw.uniform(0, within_us)))))
    return flow_list(rows)


FABRICS = {"leaf-spine": LEAF_SPINE, "fat-tree": FAT_TREE, "parallel-paths": PARALLEL, "dumbbell": DUMBBELL}
BUSY = {name: (kind, random_flows(kind.build().n_hosts, n_flows=24, rng=7)) for name, kind in FABRICS.items()}


def crowded(n_hosts: int) -> FlowList:
    """Return ten flows, a quarter of the packets of `BUSY`, in which more happens: see `expected`.

    Three hosts send long flows to the last host at once, so that packets are lost at its link and long flows wait where
    short ones come. Data cross the acknowledgements, and a flow begins in the middle, at a leaf of its own.
    """
    last, middle = n_hosts - 1, n_hosts // 2
    at_once = [(0, last, 150_000, 0.0), (1, last, 120_000, 0.0), (2, last, 100_000, 0.0)]
    back = [(last, 0, 60_000, 50.0), (middle, 0, 20_000, 60.0), (last - 1, 1, 101_000, 60.0), (last - 1, 2, 1, 150.0)]
    short = [(2, last - 1, 30_000, 20.0), (0, last, 60_000, 120.0), (1, last, 40_000, 140.0)]
    return flow_list([*at_once, *back, *short])


CROWDED = {name: (kind, crowded(kind.build().n_hosts)) for name, kind in FABRICS.items()}


def setup_of(kind: FabricKind, flows: FlowList, name: str | Scheme = "ecmp", **options: Any) -> Setup:
    """Return a set-up with timeouts of 2 ms and a full trace; `options` are fields of Setup or `transport=` etc."""
    chosen = scheme(name) if isinstance(name, str) else name
    parts = {key: options.pop(key) for key in ROLES if key in options}
    known = {name for stack in chosen.stacks for name in stack.transport.settable}
    timers = {name: 2e-3 for name in ("min_rto_s", "initial_rto_s") if name in known}
    parts["transport"] = timers | parts.get("transport", {})
    defaults = {"end_ps": 2 * 10**11, "trace": TRACE_PACKETS}
    return Setup(fabric=kind.build(), flows=flows, scheme=chosen.with_params(**parts), **defaults | options)


def marking_early(name: str) -> Scheme:
    """Return a scheme that marks, if it marks, packets that find 4 others: those of `CROWDED` find so many."""
    chosen = scheme(name)
    marks = any(each.name == "threshold_packets" for each in fields(chosen.queue.params))
    return chosen.with_params(queue={"threshold_packets": 4}) if marks else chosen


def happened(raw: RawRecords) -> set[str]:
    """Return what has happened in a run with a full trace, of that which small scenarios can lack."""
    trace, ports, subs = raw.trace, raw.ports, raw.subs
    rows = {
        "losses": ports["packets_dropped"],
        "marks": ports["packets_marked"],
        "packets trimmed": ports["packets_trimmed"],
        "evictions": trace["reason"] == EVICTED,
        "losses at failed links": trace["reason"] == LINK_DOWN,
        "losses on links": trace["reason"] == CORRUPTED,
        "retransmissions": subs["retransmissions"],
        "timeouts": subs["timeouts"],
        "packets overtaken": subs["reordered_packets"],
        "coded packets": trace["kind"] == CODED,
    }
    return {what for what, counts in rows.items() if counts.any()}


def expected(chosen: Scheme) -> set[str]:
    """Return what happens to a scheme of :func:`marking_early` in each scenario of `CROWDED`.

    Coded packets across subflows, which few losses call for, need more flows.
    """
    again = any(hasattr(stack.transport.params, "min_rto_s") for stack in chosen.stacks)
    codes = any(stack.layer.emit and not stack.layer.combine for stack in chosen.stacks)
    marks = any(each.name == "threshold_packets" for each in fields(chosen.queue.params))
    probes = any(getattr(stack.transport.params, "tlp", False) for stack in chosen.stacks)
    trims = bool(getattr(chosen.queue.params, "trim_bytes", 0))
    evicts = (chosen.queue.evict and not trims) or getattr(chosen.queue.params, "push_out", False)
    return (
        ({"retransmissions"} if again else set())
        | ({"losses"} if again and not trims else set())
        | ({"packets trimmed"} if trims else set())
        | ({"timeouts"} if again and not (marks or probes or trims) else set())
        | ({"marks"} if marks else set())
        | ({"evictions"} if evicts else set())
        | ({"coded packets"} if codes else set())
    )


def in_turns(name: str, **params: Any) -> Scheme:
    """Return a scheme whose hosts send in turns."""
    chosen = scheme(name).with_nic(NICS["round_robin"])
    return chosen.with_params(nic=params) if chosen.nic.rank else chosen


def _numbers(raw: RawRecords) -> dict[str, Any]:
    """Return the columns of all tables and counters that both engines keep, by name."""
    tables = {name: getattr(raw, name) for name in ("flows", "subs", "ports", "trace", "probes")}
    if raw.warm is not None:
        tables["ports of the warm-up"] = raw.warm.ports
    columns = {
        f"{table}.{name}": rows[name]
        for table, rows in tables.items()
        for name in rows.dtype.names
        if name not in CHAINS
    }
    delivered = {} if raw.warm is None else {"delivered in the warm-up": raw.warm.delivered}
    return columns | delivered | {"queue_counts": raw.queue_counts, "extents": raw.extents}


def differences(setup: Setup, *, strict: bool = False) -> list[str]:
    """Return where the records of the two engines differ; `strict` records raise where a value does not fit a field."""
    return _differences(run(setup), setup, strict=strict)


def _differences(compiled: RawRecords, setup: Setup, *, strict: bool) -> list[str]:
    """Return where the records of the reference engine, or of a run without a trace, differ from `compiled`.

    Without a trace the compiled engine counts later what has left a queue.
    """
    found = differing(compiled, run_reference(setup, strict=strict))
    untraced = differing(compiled, run(replace(setup, trace=TRACE_OFF)))
    return found + [f"without a trace: {name}" for name in untraced if not name.startswith("trace.")]


def differing(one: RawRecords, other: RawRecords) -> list[str]:
    """Return where the records of two runs of the same set-up differ, own memory included."""
    ours, theirs = _numbers(one), _numbers(other)
    found = sorted(ours.keys() ^ theirs.keys())
    found += [name for name in ours.keys() & theirs.keys() if not np.array_equal(ours[name], theirs[name])]
    for name, layout in one.own.layouts.items():
        for owner in layout.records if name != "packet" else ():
            ours, theirs = one.own.records(name, owner), other.own.records(name, owner)
            names = ours.dtype.names or ()
            found += [f"{name} {owner}.{each}" for each in names if not np.array_equal(ours[each], theirs[each])]
    for name in SAME_COUNTERS:
        if one.counters[0][name] != other.counters[0][name]:
            found.append(f"counters.{name}")
    return found


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Which packets of data get lost at the links into `at_node`: the first time, or every time."""

    at_node: int
    once_a: int = -1
    once_b: int = -1
    once_c: int = -1
    once_d: int = -1
    always: int = -1


def refuse_listed(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Refuse the packets listed; a coded packet is known by first segment of its unit + position in it."""
    if port.to_node != params.at_node or packet.kind not in (DATA, CODED):
        return ACCEPT
    number = packet.segment + (packet.position if packet.kind == CODED else 0)
    listed = number in (params.once_a, params.once_b, params.once_c, params.once_d)
    return REFUSE if (listed and not packet.flags & RETRANSMITTED) or number == params.always else ACCEPT


def with_losses(base: Scheme, params: Losses) -> Scheme:
    """Return `base` with a queue that drops chosen packets."""
    return replace(base, queue=Queue(name="refuse_listed", admit=refuse_listed, params=params))


def one_run(setup: Setup, *, strict: bool = False) -> RawRecords:
    """Run the compiled engine, after the reference engine has agreed."""
    records = run(setup)
    assert _differences(records, setup, strict=strict) == []
    return records


def sent_by(records: RawRecords, setup: Setup, sub: int = 0) -> Any:
    """Return the lines of the trace that say what data subflow `sub` gave to its NIC."""
    trace = records.trace
    nic = setup.fabric.host_port[records.subs[sub]["src"]]
    ours = (trace["what"] == ENQUEUED) & (trace["port"] == nic) & (trace["sub"] == sub)
    return trace[ours & np.isin(trace["kind"], (DATA, CODED))]


def flow_with_losses(
    n_segments: int, base: str | Scheme = "ecmp", *, end_ps: int = 10**12, losses: Any, **params: Any
) -> tuple[RawRecords, Any]:
    """Return the records of one flow over `LINK` whose given packets get lost at `FAR_SWITCH`, and what it sent."""
    lossy = with_losses(scheme(base) if isinstance(base, str) else base, Losses(at_node=FAR_SWITCH, **losses))
    setup = setup_of(LINK, flow_list([(0, 1, n_segments * MSS, 0.0)]), lossy, end_ps=end_ps, **params)
    records = one_run(setup)
    return records, sent_by(records, setup)


def subflow_with_losses(
    n_segments: int, base: str | Scheme = "ecmp", *, transport: Any = None, **losses: int
) -> tuple[Any, Any]:
    """Return the subflow of such a flow, and what it sent."""
    records, sent = flow_with_losses(n_segments, base, losses=losses, transport=transport or {})
    return records.subs[0], sent


@dataclass(frozen=True, kw_only=True)
class UnitLosses:
    """Which packets of a coding unit get lost at the links into `at_node`, and whose first acknowledgements.

    Attributes
    ----------
    unit, positions : int
        The unit, and a binary number: bit i stands for the packet at position i.
    unheard_unit : int
        The unit whose acknowledgements get lost, but for those of retransmissions.
    """

    at_node: int
    unit: int = -1
    positions: int = 0
    unheard_unit: int = -1


def refuse_of_unit(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Refuse the packets listed."""
    if packet.kind == CODED and port.to_node == params.at_node and packet.unit == params.unit:
        return REFUSE if (params.positions >> packet.position) & 1 else ACCEPT
    first_ack = packet.kind == ACK and not packet.flags & RETRANSMITTED
    return REFUSE if first_ack and params.unheard_unit >= 0 and packet.unit == params.unheard_unit else ACCEPT


def with_unit_losses(base: Scheme, params: UnitLosses) -> Scheme:
    """Return `base` with a queue that drops chosen packets of a unit."""
    return replace(base, queue=Queue(name="refuse_of_unit", admit=refuse_of_unit, params=params))


maker_of = cache(slotted)  # one class for each dtype, not one for each record


def record(dtype: Any, **values: Any) -> Any:
    """Return a record of `dtype`, all 0, with the given fields."""
    made = maker_of(dtype)(np.zeros((), dtype))
    for name, value in values.items():
        setattr(made, name, value)
    return made


def memory_of(component: Any, scope: str, **values: Any) -> Any:
    """Return a record of a component's own memory, with its first values but for those given."""
    first = first_record(component.own_fields, scope)
    made = maker_of(first.dtype)(first[0])
    for name, value in values.items():
        setattr(made, name, value)
    return made


def components_of(chosen: Scheme, role: str) -> list[Any]:
    """Return what plays a role in a scheme: one component, or those of both stacks where they differ."""
    if role in NETWORK_ROLES:
        return [getattr(chosen, role)]
    return [getattr(stack, role) for stack in chosen.stacks]


def params_of(component: Any, **changes: Any) -> Any:
    """Return the parameter record of a component, as the reference engine has it."""
    made = param_record(replace(component.params, **changes))
    return maker_of(made.dtype)(made[0])


def assert_same_trace(one: RawRecords, other: RawRecords) -> None:
    """Check that two packet traces are the same."""
    assert len(one.trace) == len(other.trace)
    assert all(np.array_equal(one.trace[name], other.trace[name]) for name in one.trace.dtype.names)
