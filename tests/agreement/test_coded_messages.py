"""Agreement: when lone messages under a block code are complete (`capsmodel.coding.messages`), against sent packets.

Messages follow one another over a link that loses packets, each on a connection of its own whose window holds all of
it. The three blocks, of 32, 32 and 16 packets, have four repair packets each. Compared is the law of the time at
moments before anything can be repeated: after the last source packet, within the repair packets of the last block, and
when all have come. A chain of losses goes on from message to message, which are independent but for that.
"""

import numpy as np
import pytest

from capsim import Dumbbell, LinkChange, Listed, Scenario, simulate
from capsmodel.coding.messages import message_late_prob
from capsmodel.experiments.agreement import Count

MESSAGES, PACKETS, K, R, MSS_BYTES = 1500, 80, 32, 4, 1460
PACKET_S, DELAY_S, GAP_S = 12e-6, 10e-6, 5e-3
LINKS = 3


def completion_times_s(loss_prob, burst_packets, seed):
    """Return when each message is complete, from its start, in seconds."""
    lossy = LinkChange(between=("left", "right"), one_way=True, loss_prob=loss_prob, loss_burst_packets=burst_packets)
    starts = [(0, 1, PACKETS * MSS_BYTES, number * GAP_S) for number in range(MESSAGES)]
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=DELAY_S, links=(lossy,)),
        traffic=(Listed(flows=tuple(starts)),),
        params={
            "transport": {"initial_window_packets": 200, "min_rto_s": 2e-3, "initial_rto_s": 2e-3},
            "layer": {"fixed_packets": K, "min_repair": R},
        },
        seed=seed,
        end_s=MESSAGES * GAP_S + 1,
    )
    flows = simulate(scenario, scheme="ec_rack").flows
    return flows["fct_s"].to_numpy()


@pytest.mark.parametrize(("loss_prob", "burst_packets"), [(0.07, None), (0.05, 3.0)])
def test_messages_are_complete_when_the_chain_says(loss_prob, burst_packets, pytestconfig, compare):
    took_s = completion_times_s(loss_prob, burst_packets, 40 + pytestconfig.getoption("fresh_seeds"))
    assert np.isfinite(took_s).all()
    sources = PACKETS + 2 * R  # until the last of them
    moments = np.array([sources, sources + 1, sources + 2, sources + R]) * PACKET_S
    delay_s = LINKS * DELAY_S + (LINKS - 1) * PACKET_S
    law = {"packets": PACKETS, "packet_s": PACKET_S, "repeat_s": 1.0, "delay_s": delay_s, "k": K, "r": R}
    late = message_late_prob(moments + delay_s, loss_prob=loss_prob, burst_packets=burst_packets, **law)
    assert late[-1] < late[0] - 0.1
    for moment, model in zip(moments, late, strict=True):
        found = Count(successes=int(np.sum(took_s > moment + delay_s + 1e-9)), trials=MESSAGES)
        verdict = compare(model, found, detect=0.09)
        assert verdict, verdict
