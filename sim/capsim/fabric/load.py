r"""Load: which payload counts and which capacity it is measured against, defined here and nowhere else.

================ ============================= ==================================== =======================
``load_of``      payload that counts           capacity                             load
================ ============================= ==================================== =======================
``host-links``   of all flows                  of all links from hosts              :math:`8 \lambda E[S]/C`
``leaf-uplinks`` of flows that leave their     of all links from leaves to other    :math:`8 q \lambda E[S]/C`
                 leaf, a share q               switches
================ ============================= ==================================== =======================

Headers, acknowledgements, replicas and repair packets are not counted: load is what the applications ask for, the same
for every scheme. The formula stands in :func:`capsmodel.metrics.offered_load`, its inverse beside it.

============= ====== ============================ ==============
Quantity      Symbol Name                         Unit
============= ====== ============================ ==============
capacity      C      :func:`load_capacity_bps`    bit per second
counted share q      :func:`counted_share`        1
offered load  ρ      :func:`offered`              1
============= ====== ============================ ==============
"""

from typing import Literal

import numpy as np

from capsim.clock import PS_PER_S
from capsim.fabric.endpoints import Pairing
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric
from capsmodel.checks import require
from capsmodel.metrics import offered_load

LoadOf = Literal["host-links", "leaf-uplinks"]
LOAD_DEFINITIONS: dict[LoadOf, str] = {
    "host-links": "payload bits per second of all flows over the capacity of all links from hosts",
    "leaf-uplinks": "payload bits per second of flows that leave their leaf over the capacity of all links from leaves "
    "to other switches",
}


def load_capacity_bps(fabric: Fabric, load_of: LoadOf) -> float:
    """Return the capacity that a load is measured against, in bits per second."""
    if load_of == "host-links":
        return float(fabric.rate_bps[fabric.host_port].sum())
    from_leaf = np.isin(fabric.port_from - fabric.n_hosts, np.unique(fabric.leaf_of_host))
    up = from_leaf & (fabric.port_to >= fabric.n_hosts)
    return float(fabric.rate_bps[up].sum())


def counted_share(fabric: Fabric, load_of: LoadOf, pairing: Pairing) -> float:
    """Return the expected share of flows of a `pairing` whose payload counts.

    Raises
    ------
    ParameterError
        If there is none.
    """
    if load_of == "host-links":
        return 1.0
    share = pairing.share_between_leaves(fabric)
    require(share > 0, f"traffic.load_of = {load_of!r}, but no flow leaves its leaf here: use 'host-links'")
    return share


def offered(flows: FlowList, fabric: Fabric, load_of: LoadOf, *, entry: int) -> tuple[float | None, float]:
    """Return the load that traffic entry `entry` offers from its first start to its last, and that time in seconds.

    The load is None where all its flows start together.
    """
    counted = flows.tag == entry
    span_s = float(np.ptp(flows.start_ps[counted])) / PS_PER_S
    if span_s == 0:
        return None, 0.0
    if load_of == "leaf-uplinks":
        counted &= fabric.leaf_of_host[flows.src] != fabric.leaf_of_host[flows.dst]
    flow_bytes = flows.flow_bytes[counted]
    if flow_bytes.size == 0:
        return 0.0, span_s
    capacity_bps = load_capacity_bps(fabric, load_of)
    return float(offered_load(flow_bytes.size / span_s, mean_bytes=flow_bytes.mean(), rate_bps=capacity_bps)), span_s
