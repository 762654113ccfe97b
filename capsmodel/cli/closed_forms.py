"""``capsmodel decode-prob``, ``redundancy``, ``reordering`` and ``fct``: closed forms as tables."""

from collections.abc import Callable
from itertools import product
from typing import Any, Literal

from capsmodel.checks import require
from capsmodel.cli._options import Count, Counts, Flag, MaybeCount, Numbers, Size
from capsmodel.cli._output import print_table
from capsmodel.coding.decoding import decode_failure_prob, decode_prob
from capsmodel.coding.random_linear import decode_failure_prob_rlnc, decode_prob_rlnc
from capsmodel.coding.redundancy import repair_packets, repair_packets_for, traffic_overhead
from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.fct.replication import replication_break_even_load, short_byte_share
from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.probability import expected_overtaken_packets, reordering_prob
from capsmodel.workloads.catalogue import load_workload

_CODES: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "mds": (decode_prob, decode_failure_prob),
    "rlnc": (decode_prob_rlnc, decode_failure_prob_rlnc),
}


def decode_probability(
    k: Counts = (10,),
    *,
    blocking_prob: Numbers = (0.2,),
    r: Counts = (),
    code: Literal["mds", "rlnc"] = "mds",
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Print the probability that a coding unit decodes from its unblocked packets (CAPS Eq. 2).

    Parameters
    ----------
    k
        Source packets of a unit; several, separated by commas.
    blocking_prob
        Probability p_B that a packet is blocked; several, separated by commas.
    r
        Repair packets; the rule ceil(k p_B / (1 - p_B)) when not given.
    code
        mds: any k packets decode; rlnc: dense random linear code over GF(256), which may lack rank.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    rows = []
    for k_, prob in product(k, blocking_prob):
        for r_ in r or (int(repair_packets(k_, blocking_prob=prob)),):
            decoded, failed = (form(k_, r=r_, blocking_prob=prob) for form in _CODES[code])
            rows.append({"k": k_, "r": r_, "blocking_prob": prob, "decode_prob": decoded, "failure_prob": failed})
    print_table(rows, title=f"Decoding probability of a unit, {code} code", as_json=json, as_csv=csv)


def redundancy(
    k: Counts = (10, 20, 40),
    *,
    blocking_prob: Numbers = (0.1, 0.2, 0.3),
    target_prob: float = 0.99,
    long_short_ratio: float = 9.0,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Print the repair packets a unit needs and the share of all traffic they make up.

    Parameters
    ----------
    k
        Source packets of a unit; several, separated by commas.
    blocking_prob
        Probability p_B that a packet is blocked; several, separated by commas.
    target_prob
        Decoding probability that r_for_target must reach.
    long_short_ratio
        Packets of long flows for each packet of a short flow, g.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    rows = []
    for k_, prob in product(k, blocking_prob):
        r = int(repair_packets(k_, blocking_prob=prob))
        rows.append({
            "k": k_,
            "blocking_prob": prob,
            "r": r,
            "decode_prob": decode_prob(k_, r=r, blocking_prob=prob),
            "r_for_target": int(repair_packets_for(k_, blocking_prob=prob, target_prob=target_prob)),
            "overhead_pct": 100 * traffic_overhead(prob, long_short_ratio=long_short_ratio, k=k_),
        })  # fmt: skip
    title = f"Repair packets (CAPS VI-B); r for {target_prob:g}; overhead (Eq. 7) at g = {long_short_ratio:g}"
    print_table(rows, title=title, as_json=json, as_csv=csv)


def reordering(
    flow_packets: Counts = (2, 5, 10, 20),
    *,
    congested_prob: Numbers = (0.1, 0.25, 0.5),
    paths: MaybeCount = None,
    congested_paths: Counts = (),
    dup_acks: Count = 3,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Print how likely a sprayed flow is reordered, and how likely it draws duplicate ACKs (CDCPS Eq. 1-3).

    Parameters
    ----------
    flow_packets
        Packets of the flow, S; several, separated by commas.
    congested_prob
        Probability P_b that a packet takes a congested path; several, separated by commas.
    paths
        Parallel paths n; with --congested-paths it replaces --congested-prob by P_b = n_b / n.
    congested_paths
        Congested paths n_b; several, separated by commas.
    dup_acks
        Duplicate ACKs that trigger a fast retransmit.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    require((paths is None) == (not congested_paths), "--paths and --congested-paths go together: give both or neither")
    probs = congested_prob
    if paths is not None:
        require(paths >= 1, f"--paths = {paths}, but a fabric has at least 1 path")
        bad = [n for n in congested_paths if not 0 <= n <= paths]
        require(not bad, f"--congested-paths = {bad[:1]}, but with {paths} paths it must lie in 0..{paths}")
        probs = tuple(n / paths for n in congested_paths)
    rows = [
        {
            "flow_packets": size,
            "congested_prob": prob,
            "reordering_prob": reordering_prob(size, congested_prob=prob),
            "overtaken_packets": expected_overtaken_packets(size, congested_prob=prob),
            f"at_least_{dup_acks}_dup_acks_prob": duplicate_acks_prob(dup_acks, flow_packets=size, congested_prob=prob),
        }
        for size, prob in product(flow_packets, probs)
    ]
    print_table(rows, title="Reordering of a sprayed flow", as_json=json, as_csv=csv)


def fct(
    load: Numbers = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    *,
    workload: str = "websearch",
    packet_size: Size = 1460,
    window_packets: Count = 12,
    burst_packets: Count = 44,
    short_packets: Count = 68,
    replicas: Count = 2,
    byte_share: float | None = None,
    tail: Literal["effective_bandwidth", "exact"] = "effective_bandwidth",
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Print normalised flow completion times with and without replication (RepFlow Eq. 1-14).

    Parameters
    ----------
    load
        Load rho of a path; several, separated by commas.
    workload
        Flow-size distribution, such as websearch or datamining.
    packet_size
        Bytes of a flow that one packet carries, such as 1460B.
    window_packets
        Initial window k, in packets.
    burst_packets
        Burst size M of long flows, in packets.
    short_packets
        Largest short flow S_L, in packets.
    replicas
        Copies of each short flow.
    byte_share
        Share epsilon of bytes in short flows; computed from the workload when not given.
    tail
        effective_bandwidth: Eq. 9-10 as printed; exact: the waiting-time distribution of the queue itself.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    sizes = load_workload(workload).in_packets(packet_size)
    share = short_byte_share(sizes, short_packets=short_packets) if byte_share is None else byte_share
    model: dict[str, Any] = {"sizes": sizes, "burst_packets": burst_packets, "short_packets": short_packets}
    model |= {"short_byte_share": share}
    short = model | {"window_packets": window_packets}
    rows = [
        {
            "load": rho,
            "mean_short": mean_fct(rho, **short),
            "mean_short_rep": mean_fct(rho, replicas=replicas, **short),
            "p99_short": tail_fct(rho, tail=tail, **short),
            "p99_short_rep": tail_fct(rho, replicas=replicas, tail=tail, **short),
            "mean_long": mean_fct_long(rho, **model),
            "mean_long_rep": mean_fct_long(rho, replicas=replicas, **model),
            "p99_long": tail_fct_long(rho, tail=tail, **model),
            "p99_long_rep": tail_fct_long(rho, replicas=replicas, tail=tail, **model),
        }
        for rho in load
    ]
    limit = replication_break_even_load(share, replicas=replicas)
    title = f"Normalised FCT, {workload}, epsilon = {share:.4g}; {replicas} copies help below load {limit:.3g}"
    print_table(rows, title=title, as_json=json, as_csv=csv)
