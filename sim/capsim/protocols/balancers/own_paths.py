"""Each long flow on a path of its own, short flows sprayed: what the authors of CAPS do in ns-2, not Algorithm 1.

Long flows get paths in the order in which their first packets come to their first switch, and begin again with the
first path when all are taken. There is no mode and no hash, so no two meet before that. Their acknowledgements take the
path of the same number. Sizes must be known.
"""

from dataclasses import replace
from typing import Any

from capsim.hooks import inlined
from capsim.protocols.balancers.spray import RPS, sprayed


@inlined
def own_path(state: Any, switch: Any, conn: Any, n_paths: int) -> int:
    """Return the path of a long flow; in a fabric of more tiers the flows of one lower path take all the upper ones."""
    if conn.path_words[0] == 0:
        state.long_flows += 1
        conn.path_words[0] = state.long_flows
        conn.path_words[1] = n_paths
    order = conn.path_words[0] - 1
    if switch.tier > 0:
        order //= conn.path_words[1]
    return int(order % n_paths)


def choose(
    params: Any,
    state: Any,
    switch: Any,
    conn: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """Return the flow's own path if it is long, else a sprayed one."""
    if conn.short == 0:
        return own_path(state, switch, conn, len(candidates))
    return sprayed(params, state, len(candidates), u0)


OWN_PATHS = replace(RPS, name="own_paths", choose=choose, state=(*RPS.state, ("long_flows", "i8")))
