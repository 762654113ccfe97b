"""Small set-ups for tests of the engines."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from capsim.engines import run
from capsim.fabric.flows import FlowList
from capsim.fabric.kinds import Dumbbell, FabricKind, FatTree, LeafSpine, ParallelPaths
from capsim.hooks import ACCEPT, REFUSE, Queue, Scheme
from capsim.registry import scheme
from capsim.state import TRACE_PACKETS, RawRecords, Setup

CHAINS = {"head", "tail", "queue_head", "service", "class_head", "class_tail"}  # how the compiled engine stores queues
SAME_COUNTERS = ("now_ps", "traversals", "open_conns", "units", "unroutable", "in_flight")

LEAF_SPINE = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=12)
FAT_TREE = FatTree(pods=4, hosts_per_edge=3, delay_s=2e-6, buffer_bytes=20_000)
PARALLEL = ParallelPaths(paths=4, hosts_per_side=4, delay_s=10e-6, buffer_packets=20)
DUMBBELL = Dumbbell(hosts_per_side=3, delay_s=5e-6, buffer_packets=10)


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


def setup_of(kind: FabricKind, flows: FlowList, name: str | Scheme = "ecmp", **options: Any) -> Setup:
    """Return a set-up with timeouts of 2 ms and a full trace; `options` are fields of Setup or `transport=` and so on."""
    chosen = scheme(name) if isinstance(name, str) else name
    parts = {key: options.pop(key) for key in ("transport", "balancer", "queue", "coding") if key in options}
    parts["transport"] = {"min_rto_s": 2e-3, "initial_rto_s": 2e-3} | parts.get("transport", {})
    defaults = {"end_ps": 2 * 10**11, "trace": TRACE_PACKETS}
    return Setup(fabric=kind.build(), flows=flows, scheme=chosen.with_params(**parts), **defaults | options)


def differences(setup: Setup) -> list[str]:
    """Return where the records of the two engines differ."""
    compiled, reference = run(setup, engine="compiled"), run(setup, engine="reference")
    found = []
    for table in ("flows", "conns", "ports", "units", "trace", "probes"):
        ours, theirs = getattr(compiled, table), getattr(reference, table)
        if len(ours) != len(theirs):
            found.append(f"{table}: {len(ours)} and {len(theirs)} rows")
        elif len(ours):
            names = [name for name in ours.dtype.names if name not in CHAINS]
            found += [f"{table}.{name}" for name in names if not np.array_equal(ours[name], theirs[name])]
    for name in SAME_COUNTERS:
        if compiled.counters[0][name] != reference.counters[0][name]:
            found.append(f"counters.{name}")
    return found


def refuse_listed(params: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int) -> int:
    """Refuse the first transmission of four given segments at port 0, and of one also the retransmission."""
    if port.to_node != params.at_node or packet.kind not in (0, 4):
        return ACCEPT
    number = packet.position if packet.kind == 4 else packet.segment
    first_time = not packet.flags & 1
    listed = number in (params.a, params.b, params.c, params.d)
    return REFUSE if (listed and first_time) or (number == params.twice and packet.kind == 0) else ACCEPT


def with_losses(base: Scheme, params: Any) -> Scheme:
    """Return `base` with a queue that loses chosen packets."""
    return replace(base, queue=Queue(name="refuse_listed", admit=refuse_listed, params=params))


def one_run(setup: Setup) -> RawRecords:
    """Run the compiled engine, after the reference engine has agreed."""
    assert differences(setup) == []
    return run(setup)
