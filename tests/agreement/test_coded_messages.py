"""Agreement: when lone messages are complete (`capsmodel.coding.messages`), against packets of two schemes.

Messages follow one another over a link that loses packets, each on a connection of its own whose window holds all of
it. A chain of losses goes on from message to message, which are independent but for that.
"""

import numpy as np
import pytest

from capsim import Dumbbell, LinkChange, Listed, Scenario, simulate
from capsmodel.coding.messages import coding_pays_from, mean_message_s, message_late_prob
from capsmodel.experiments.agreement import Count, MeanAndError

pytestmark = pytest.mark.agreement

MSS_BYTES, LINKS, K = 1460, 3, 32


def completion_times_s(scheme, messages, *, packets, packet_s, delay_s, seed, layer=None, **losses):
    """Return when each message is complete, from its start, in seconds; `delay_s` is that of one link."""
    lossy = LinkChange(between=("left", "right"), one_way=True, **losses)
    gap_s, min_rto_s = 5e-3 + 20 * LINKS * delay_s, 2e-3 + 4 * LINKS * delay_s
    rate_bps = (MSS_BYTES + 40) * 8 / packet_s
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=rate_bps, delay_s=delay_s, buffer_packets=10**4, links=(lossy,)),
        traffic=(Listed(flows=tuple((0, 1, packets * MSS_BYTES, number * gap_s) for number in range(messages))),),
        params={
            "transport": {"initial_window_packets": 200, "min_rto_s": min_rto_s},
            **({"layer": layer} if layer else {}),
        },
        seed=seed,
        end_s=messages * gap_s + 1,
    )
    took_s = simulate(scenario, scheme=scheme).flows["fct_s"].to_numpy()
    assert np.isfinite(took_s).all()
    return took_s


@pytest.fixture
def fresh(pytestconfig):
    """Return by how much seeds differ from those of the committed run."""
    return pytestconfig.getoption("fresh_seeds")


@pytest.mark.parametrize(("loss_prob", "burst_packets"), [(0.07, None), (0.05, 3.0)])
def test_messages_are_complete_when_the_chain_says(loss_prob, burst_packets, fresh, compare):
    """Three blocks, of 32, 32 and 16 packets, have four repair packets each.

    The law of the time is compared at moments before anything can be repeated: after the last source packet, within the
    repair packets of the last block, and when all have come.
    """
    messages, packets, r, packet_s, link_s = 1500, 80, 4, 12e-6, 10e-6
    losses = {"loss_prob": loss_prob, "loss_burst_packets": burst_packets}
    sent = {"packets": packets, "packet_s": packet_s, "delay_s": link_s, "layer": {"min_repair": r}}
    took_s = completion_times_s("ec_rack", messages, seed=40 + fresh, **sent, **losses)
    sources = packets + 2 * r  # until the last of them
    delay_s = LINKS * link_s + (LINKS - 1) * packet_s
    times_s = np.array([sources, sources + 1, sources + 2, sources + r]) * packet_s + delay_s
    law = {"packets": packets, "packet_s": packet_s, "repeat_s": 1.0, "delay_s": delay_s, "k": K, "r": r}
    late = message_late_prob(times_s, loss_prob=loss_prob, burst_packets=burst_packets, **law)
    assert late[-1] < late[0] - 0.1
    for time_s, model in zip(times_s, late, strict=True):
        found = Count(successes=int(np.sum(took_s > time_s + 1e-9)), trials=messages)
        verdict = compare(model, found, detect=0.09)
        assert verdict, verdict


SENT = {"packets": 64, "packet_s": 120e-9}
SHOWN_S = 3 * SENT["packet_s"]  # the three packets that show a loss


@pytest.mark.parametrize("loss_prob", [1e-3, 1e-2])
def test_repetition_by_time_takes_the_mean_time(loss_prob, fresh, compare):
    """RACK over 1 ms: 6% and 47% of the messages lose a packet.

    Bias: of the last three packets nothing shows the loss but a probe, one round trip later still; and so where a
    retransmission is lost, which is rarer.
    """
    link_s = 1e-3 / 6
    took_s = completion_times_s("rack", 6000, seed=41 + fresh, delay_s=link_s, loss_prob=loss_prob, **SENT)
    repeat_s, delay_s = 6 * link_s + SHOWN_S, LINKS * link_s + (LINKS - 1) * SENT["packet_s"]
    model = mean_message_s(loss_prob=loss_prob, repeat_s=repeat_s, delay_s=delay_s, **SENT)
    late_s = 3 * loss_prob * repeat_s + 64 * loss_prob**2 * 2 * repeat_s
    verdict = compare(model, took_s, bias=(0.0, late_s), detect=(-0.08 * model, late_s + 0.08 * model))
    assert verdict, verdict


def test_coding_pays_from_the_loss_that_is_computed(fresh, compare):
    """Two blocks with eight repair packets each, over 100 us: slower at a quarter of p*, faster at four times p*."""
    link_s = 1e-4 / 6
    least = coding_pays_from(k=K, r=8, repeat_s=6 * link_s + SHOWN_S, **SENT)
    saved = []
    for loss_prob in (least / 4, 4 * least):
        sent = {"seed": 42 + fresh, "delay_s": link_s, "loss_prob": loss_prob, **SENT}
        alone, coded = (completion_times_s(scheme, 5000, **sent) for scheme in ("rack", "ec_rack"))
        error_s = np.sqrt((alone.var(ddof=1) + coded.var(ddof=1)) / len(alone))
        difference = MeanAndError(mean=float(alone.mean() - coded.mean()), standard_error=float(error_s))
        saved.append(compare(0.0, difference, detect=1e-4))
    assert [each.verdict for each in saved] == ["disagrees", "disagrees"]
    assert saved[0].measured < 0 < saved[1].measured
