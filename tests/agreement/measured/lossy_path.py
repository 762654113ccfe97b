r"""TCP over a path that loses each packet with a fixed probability: the window of DC2-MTCP Eq. 8, in simulated packets.

==================================== ============= ============================= ======= ==============
Quantity                             Symbol        Column                        Unit    Equation
==================================== ============= ============================= ======= ==============
packets sent in a round trip         :math:`E[W]`  ``sent_packets_per_rtt``      packets dc2mtcp Eq. 8
packets delivered in a round trip    --            ``delivered_packets_per_rtt`` packets --
packets lost of those sent           :math:`p`     ``lost_packets``              packets --
expiries of the retransmission timer --            ``timeouts``                  1       --
==================================== ============= ============================= ======= ==============

The first two are means over connections (:mod:`capsmodel.papers.measurements.means`). The sender is NewReno with
all that the equation leaves out: it detects a loss one round trip later, halves its window once for all losses of a
window, retransmits one of them in each round trip, and waits for its timer where a retransmission is lost or too few
duplicate ACKs arrive.
"""

import pandas as pd

from capsim import Dumbbell, LinkChange, Listed, Result, Scenario, simulate
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.multipath.lia import single_path_window
from capsmodel.papers.measurements._packets import MSS_BYTES
from capsmodel.papers.measurements.means import replicate_columns

RTT_S = 0.1
"""Round trip in seconds; nothing queues, so it never varies."""
_LINKS, _RATE_BPS, _BUFFER_PACKETS = 6, 1e12, 10**6


def lossy_dumbbell(connections: int, loss_prob: float, *, rtt_s: float = RTT_S) -> Dumbbell:
    """Return a fabric whose middle link loses packets to the right, where no acknowledgement travels.

    Parameters
    ----------
    connections : int
        Hosts on each side.
    loss_prob : float
        Of each packet that crosses the link.
    rtt_s : float
        Round trip in seconds, all of it propagation: rates and buffers are so large that nothing waits or is dropped.
    """
    lossy = LinkChange(between=("left", "right"), one_way=True, loss_prob=loss_prob)
    return Dumbbell(
        hosts_per_side=connections,
        rate_bps=_RATE_BPS,
        delay_s=rtt_s / _LINKS,
        buffer_packets=_BUFFER_PACKETS,
        links=(lossy,),
    )


def _simulate(
    loss_prob: float,
    *,
    connections: int,
    packets: int,
    seed: int,
    min_rto_s: float,
    rtt_s: float,
    scheme: str,
    engine: str,
) -> Result:
    window = float(single_path_window(loss_prob))
    start = max(1, round(window))
    params: dict[str, bool | int | float | str] = {
        "initial_window_packets": start,
        "initial_ssthresh_bytes": start * MSS_BYTES,
        "max_window_bytes": 2**30,
        "min_rto_s": min_rto_s,
    }
    size = 4 * packets * MSS_BYTES  # more than is sent during the run
    scenario = Scenario(
        fabric=lossy_dumbbell(connections, loss_prob, rtt_s=rtt_s),
        traffic=(Listed(flows=tuple((host, host + connections, size, 0.0) for host in range(connections))),),
        params={"transport": params},
        seed=seed,
        end_s=packets / window * rtt_s,
    )
    return simulate(scenario, scheme=scheme, engine=engine)


@measurement("tcp-on-lossy-path", revision=2)
def tcp_on_lossy_path(
    loss_prob: float,
    *,
    connections: int,
    packets: int,
    seed: int,
    min_rto_s: float = 1.0,
    rtt_s: float = RTT_S,
    scheme: str = "ecmp",
    engine: str = "compiled",
) -> pd.DataFrame:
    """Run TCP connections over a path with random losses, and average what they send in a round trip.

    Parameters
    ----------
    loss_prob : float
        Probability that a data packet is lost, independent, in (0, 1); acknowledgements arrive.
    connections : int
        Independent connections, at least 2, each between its own hosts; nothing queues.
    packets : int
        Packets that each sends if its window is that of the equation, which is where it starts.
    seed : int
        Seed of the losses.
    min_rto_s : float
        Least retransmission timeout, in seconds; by default that of RFC 6298, ten round trips. A loss at the end of a
        burst is repaired two round trips after the last new acknowledgement, so with an RTO of two round trips the
        timer would expire although the repair is on its way.
    rtt_s : float
        Round trip, in seconds.
    scheme : str
        Whose transport and congestion control they are; there is one path.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    DataFrame
        One row with the columns above and ``sent_packets``, all that was sent.

    Raises
    ------
    ParameterError
        If there is only one connection, or a flow ended too early.

    Examples
    --------
    >>> row = tcp_on_lossy_path(0.02, connections=2, packets=200, seed=1, engine="reference").iloc[0]
    >>> bool(5 < row["sent_packets_per_rtt"] < 15)
    True
    """
    found = _simulate(
        loss_prob,
        connections=connections,
        packets=packets,
        seed=seed,
        min_rto_s=min_rto_s,
        rtt_s=rtt_s,
        scheme=scheme,
        engine=engine,
    )
    flows = found.flows
    require(not flows["finished"].any(), "a flow ended too early: give more packets")
    round_trips = found.scenario.end_s / rtt_s
    row: dict[str, float] = replicate_columns(
        sent_packets_per_rtt=flows["packets_sent"] / round_trips,
        delivered_packets_per_rtt=flows["delivered_bytes"] / MSS_BYTES / round_trips,
    )
    counted = {"sent_packets": "packets_sent", "lost_packets": "packets_dropped", "timeouts": "timeouts"}
    return pd.DataFrame([row | {name: int(flows[column].sum()) for name, column in counted.items()}])
