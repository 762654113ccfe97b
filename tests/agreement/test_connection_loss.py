"""Agreement: loss of a connection from its windows (DC2-MTCP Eq. 4, 7), and coded packets against it (Eq. 1, 5, 10).

Measured is the window process with random losses. The shares of the paths have a relative error of at most p.
"""

import numpy as np
import pytest
from agreement.measured.coupled_windows import averaged_windows, protected_blocks

from capsmodel.coding.decoding import decode_prob
from capsmodel.experiments.agreement import Count
from capsmodel.multipath.coded_transport import (
    connection_loss_prob,
    is_small_flow,
    redundancy_rate_per_s,
    redundancy_ratio,
    small_flow_redundancy_ratio,
)
from capsmodel.multipath.lia import lia_equilibrium_windows
from capsmodel.multipath.sawtooth import lia_mean_windows, total_fluctuation_bias
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

CONNECTIONS = 400
PATHS = {
    "one loses twice as much": ((0.01, 0.02), (1.0, 1.0)),
    "lossy and short, clean and long": ((0.03, 0.01), (1.0, 3.0)),
    "four that differ": ((0.002, 0.01, 0.01, 0.03), (1.0, 1.0, 2.0, 3.0)),
    "four identical": ((0.01,) * 4, (1.0,) * 4),
}
UNEQUAL_RTTS = "lossy and short, clean and long"


@pytest.fixture
def rows(measured):
    """Return one row for each subflow of a setting."""

    def averages(name: str):
        loss_probs, rtts_s = PATHS[name]
        payload = {"loss_probs": loss_probs, "rtts_s": rtts_s, "connections": CONNECTIONS, "packets": 20_000}
        return measured(averaged_windows, payload | {"seed": 100 + list(PATHS).index(name)})

    return averages


def at_equilibrium(name: str, **how: str) -> float:
    loss_probs, rtts_s = PATHS[name]
    return float(connection_loss_prob(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s), rtts_s=rtts_s, **how))


@pytest.mark.parametrize("name", PATHS)
def test_rate_weighted_loss_at_equilibrium(rows, compare, name):
    model = at_equilibrium(name, weight="rate")
    step = max(PATHS[name][0]) * model
    verdict = compare(model, mean_in_row(rows(name).iloc[0], "lost_share"), bias=step, detect=0.08 * model)
    assert verdict, verdict


def test_window_weighted_loss_is_wrong_where_round_trips_differ(rows, compare):
    """As printed, Eq. 4 weighs a slow path by its window, not by its packets: too low if that path loses little."""
    model = at_equilibrium(UNEQUAL_RTTS)
    verdict = compare(model, mean_in_row(rows(UNEQUAL_RTTS).iloc[0], "lost_share"), detect=0.1 * model)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > model


@pytest.mark.parametrize("name", PATHS)
def test_loss_from_measured_windows(rows, compare, name):
    """A sender puts its mean windows into Eq. 4: p goes as 1/W², so their fluctuation and its bias count twice."""
    loss_probs, rtts_s = PATHS[name]
    found = rows(name)
    loss = connection_loss_prob(found["window_packets"].to_numpy(), rtts_s=rtts_s, weight="rate")
    equilibrium, sawtooth = (
        float(np.sum(windows(loss_probs, rtts_s=rtts_s))) for windows in (lia_equilibrium_windows, lia_mean_windows)
    )
    model = loss * (sawtooth / equilibrium) ** 2
    low, high = -2 * max(loss_probs), (1 + total_fluctuation_bias(loss_probs, rtts_s=rtts_s) + max(loss_probs)) ** 2 - 1
    sides = {"bias": (low * model, high * model), "detect": ((low - 0.06) * model, (high + 0.06) * model)}
    verdict = compare(model, mean_in_row(found.iloc[0], "lost_share"), **sides)
    assert verdict, verdict


@pytest.mark.parametrize(("name", "too_high"), [("four that differ", True), ("four identical", False)])
def test_sawtooth_windows_give_too_much_or_too_little_loss(rows, compare, name, too_high):
    """Where one path dominates windows lie below the equilibrium and Eq. 4 gives too much loss; else, too little."""
    found = rows(name)
    model = connection_loss_prob(found["window_packets"].to_numpy(), rtts_s=PATHS[name][1], weight="rate")
    verdict = compare(model, mean_in_row(found.iloc[0], "lost_share"), detect=0.1 * model)
    assert verdict.verdict == "disagrees"
    assert (model > verdict.measured) == too_high


@pytest.mark.parametrize("name", PATHS)
def test_coded_packets_per_second_are_those_lost(rows, compare, name):
    """Eq. 5 for all packets of sawtooth windows, coded ones included: its rate is that of the losses."""
    loss_probs, rtts_s = PATHS[name]
    loss = at_equilibrium(name, weight="rate")
    packets_per_s = float(np.sum(lia_mean_windows(loss_probs, rtts_s=rtts_s) / np.array(rtts_s)))
    model = redundancy_rate_per_s(loss, packets_per_s=(1 - loss) * packets_per_s)
    # Steps of one packet: in the shares of the subflows, and in the total.
    low, high = -2 * max(loss_probs), total_fluctuation_bias(loss_probs, rtts_s=rtts_s) + 2 * max(loss_probs)
    sides = {"bias": (low * model, high * model), "detect": ((low - 0.04) * model, (high + 0.04) * model)}
    verdict = compare(model, mean_in_row(rows(name).iloc[0], "lost_per_s"), **sides)
    assert verdict, verdict


@pytest.mark.parametrize("name", ["one loses twice as much", UNEQUAL_RTTS])
@pytest.mark.parametrize("times", [1, 2])
def test_redundancy_makes_up_losses_only_on_average(measured, compare, name, times):
    """Coded packets p/(1-p) for each original leave one packet for each original, on average.

    A block of 200 originals and its coded packets is then recovered with the binomial probability: somewhat less than
    2/3, so "on average" does not protect it; with twice as many coded packets in more than nine of ten cases.
    """
    loss_probs, rtts_s = PATHS[name]
    loss, originals = at_equilibrium(name, weight="rate"), 200
    coded = times * round(originals * redundancy_ratio(loss))
    payload = {"loss_probs": loss_probs, "rtts_s": rtts_s, "originals": originals, "coded": coded}
    found = measured(protected_blocks, payload | {"connections": 400, "blocks": 50, "seed": 20}).iloc[0]
    arrived = mean_in_row(found, "arrived_packets")
    sent = originals + coded
    step = max(loss_probs) * loss * sent
    verdict = compare(sent * (1 - loss), arrived, bias=step, detect=step + 0.2)
    assert verdict, verdict
    model = decode_prob(originals, r=coded, blocking_prob=loss)
    whole = Count(successes=int(found["whole_blocks"]), trials=int(found["blocks"]))
    verdict = compare(model, whole, detect=0.03)
    assert verdict, verdict
    assert (0.5 < model < 0.75) if times == 1 else model > 0.9


@pytest.mark.parametrize(("subflows", "loss"), [(2, 0.03), (4, 0.01)])
def test_small_flows_send_one_coded_packet_for_each_window(measured, compare, subflows, loss):
    """Eq. 10: windows of at most five packets on average; the coded packet makes up one loss in the total window."""
    loss_probs, rtts_s = [loss] * subflows, [1.0] * subflows
    total = float(np.sum(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)))
    assert is_small_flow(total, n_subflows=subflows)
    originals = round(total)
    coded = round(originals * small_flow_redundancy_ratio(total))
    assert coded == 1
    payload = {"loss_probs": loss_probs, "rtts_s": rtts_s, "originals": originals, "coded": coded}
    found = measured(protected_blocks, payload | {"connections": 400, "blocks": 50, "seed": 21}).iloc[0]
    whole = Count(successes=int(found["whole_blocks"]), trials=int(found["blocks"]))
    verdict = compare(decode_prob(originals, r=coded, blocking_prob=loss), whole, detect=0.01)
    assert verdict, verdict
