"""What the links of each layer lost and carried.

=============== ============================================================ ====
Quantity        Definition                                                   Unit
=============== ============================================================ ====
`loss_ratio`    packets refused, evicted or lost with the link, over offered 1
`utilisation`   bits sent over what all links of the layer can send          1
=============== ============================================================ ====
"""

import pandas as pd


def by_layer(ports: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each layer of links, such as ``leaf>spine``, over the time since the warm-up.

    Parameters
    ----------
    ports : DataFrame
        The ports table of a result.

    Returns
    -------
    DataFrame
        By layer: number of `ports`; `packets_in` and `packets_dropped` of all of them; `loss_ratio`; `utilisation`, by
        the rates of its links, and `max_utilisation` of one; `mean_queue_packets` of a port.

    Examples
    --------
    >>> rows = {"layer": ["leaf>spine"] * 2, "rate_bps": [1e9, 3e9], "measured_packets_in": [10, 30]}
    >>> measured = {"packets_dropped": [1, 0], "utilisation": [0.4, 0.8], "mean_queue_packets": [1.0, 2.0]}
    >>> ports = pd.DataFrame(rows | {f"measured_{name}": values for name, values in measured.items()})
    >>> by_layer(ports).loc["leaf>spine", ["loss_ratio", "utilisation"]].round(12).tolist()
    [0.025, 0.7]
    """
    carried_bps = ports["measured_utilisation"] * ports["rate_bps"]
    groups = ports.assign(carried_bps=carried_bps).groupby("layer", observed=True, sort=False)
    total = groups[["measured_packets_in", "measured_packets_dropped", "carried_bps", "rate_bps"]].sum(min_count=1)
    return pd.DataFrame(
        {
            "ports": groups.size(),
            "packets_in": total["measured_packets_in"],
            "packets_dropped": total["measured_packets_dropped"],
            "loss_ratio": total["measured_packets_dropped"] / total["measured_packets_in"],
            "utilisation": total["carried_bps"] / total["rate_bps"],
            "max_utilisation": groups["measured_utilisation"].max(),
            "mean_queue_packets": groups["measured_mean_queue_packets"].mean(),
        }
    )
