"""Contract: units over unequal paths are sent once, over the links that the losses describe, or refused in one line."""

from typing import Any

import numpy as np
import pytest

from capsim import ParameterError, load_scenario, simulate
from capsim.run.unequal_paths import sent_units, sent_units_scenario
from capsmodel import PathLosses

LOSS = [0.001] * 8 + [0.005] * 4 + [0.02] * 3 + [0.1]


def lost(losses: PathLosses, **options: Any) -> Any:
    found = list(sent_units(6, r=2, losses=losses, **{"units": 500} | options))
    return np.concatenate([each.lost_packets for each in found])


def test_the_preset_is_the_scenario_of_its_notes() -> None:
    preset = load_scenario("unequal-paths")
    made = sent_units_scenario(64, r=7, losses=PathLosses(LOSS, spread="in-turn"), units=200)
    assert made.fabric == preset.fabric
    result = simulate(preset)
    assert set(result.flows["packets_sent"]) == {71}
    assert set(result.units["n"]) == {71}
    assert result.flows["packets_dropped"].sum() > 50


def test_links_have_losses_and_runs_of_the_paths_in_the_order_of_turns() -> None:
    losses = PathLosses([0.1, 0.0, 0.3], spread="in-turn", burst_packets=[4, 3, 2])
    links = sent_units_scenario(4, r=1, losses=losses, units=1, first_turn=2).fabric.links
    assert [(each.parallel, each.loss_prob, each.loss_burst_packets) for each in links] == [(1, 0.3, 2), (2, 0.1, 4)]
    weighted = PathLosses([0.1, 0.2], spread="in-turn", weight=[1, 3])
    links = sent_units_scenario(4, r=1, losses=weighted, units=1).fabric.links
    assert [each.loss_prob for each in links] == [(0.1, 0.2)[path] for path in weighted.turns]


def test_a_run_typed_in_decimal_that_is_that_of_independent_losses_is_one() -> None:
    """1/(1 - 0.3) less a rounding error is no run for PathLosses, so none for the links."""
    losses = PathLosses(0.3, burst_packets=1 / 0.7 * (1 - 1e-13))
    assert sent_units_scenario(4, r=1, losses=losses, units=1).fabric.links[0].loss_burst_packets is None


def test_in_turn_each_unit_takes_each_path_as_often_as_its_turns_say() -> None:
    """Eight packets over four paths of which one loses all: two of each unit are lost; of nine, two or three."""
    losses = PathLosses([0, 1, 0, 0], spread="in-turn")
    assert set(lost(losses)) == {2}
    found = np.concatenate([each.lost_packets for each in sent_units(6, r=3, losses=losses, units=400)])
    assert (found == 3).mean() == 1 / 4
    assert set(found) == {2, 3}


def test_first_paths_are_equally_likely_also_where_all_units_of_a_run_begin_with_the_same() -> None:
    """Two packets over four paths of which the first loses all: a unit of any first path loses one with 2/4."""
    losses = PathLosses([1, 0, 0, 0], spread="in-turn")
    found = np.concatenate([each.lost_packets for each in sent_units(2, r=0, losses=losses, units=400)])
    assert (len(found), found.mean()) == (400, 1 / 2)


@pytest.mark.agreement
@pytest.mark.parametrize("spread", ["random", "in-turn"])
def test_both_engines_lose_the_same(spread: Any) -> None:
    losses = PathLosses([0.1, 0.3], spread=spread, burst_packets=3.0)
    ours, theirs = (lost(losses, units=60, engine=engine) for engine in ("compiled", "reference"))
    assert np.array_equal(ours, theirs)
    assert ours.sum() > 20


def test_units_that_count_do_not_see_the_same_run() -> None:
    """One path, runs of 20: successive units correlate by more than a half, those that count by no more than chance."""
    losses = PathLosses(0.2, burst_packets=20.0)
    scenario = sent_units_scenario(6, r=2, losses=losses, units=1200)
    successive = simulate(scenario).flows["packets_dropped"].to_numpy()
    counting = lost(losses, units=1200)
    assert np.corrcoef(successive[1:], successive[:-1])[0, 1] > 0.5
    assert abs(np.corrcoef(counting[1:], counting[:-1])[0, 1]) < 4 / np.sqrt(1200)


def test_same_seed_same_losses_and_another_seed_others() -> None:
    losses = PathLosses(LOSS)
    assert np.array_equal(lost(losses, seed=5), lost(losses, seed=5))
    assert not np.array_equal(lost(losses, seed=5), lost(losses, seed=6))


def test_what_is_not_sent_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        (PathLosses([0.1, 0.2], down_prob=0.1), "losses with paths that are down are not simulated: leave that out"),
        (PathLosses([0.1, 0.1], down_paths=1), "losses with paths that are down are not simulated: leave that out"),
        (
            PathLosses(0.1, spread="in-turn", burst_s=1e-6, packet_s=1e-6),
            "losses with loss bursts in time are not simulated: leave that out",
        ),
        (
            PathLosses(0.1, burst_packets=3, interleave=4),
            "losses with interleaved units are not simulated: leave that out",
        ),
        (PathLosses(0.1, deadline_s=1, packet_s=1e-6), "losses with a deadline are not simulated: leave that out"),
        (
            PathLosses([0.1, 0.2], spread="in-turn", first_path="worst"),
            "losses with a first path are not simulated: leave that out",
        ),
        (PathLosses([0.1, 0.2], weight=[1, 1.5]), "weights are simulated when whole and without runs"),
        (PathLosses([0.1, 0.2], weight=[1, 2], burst_packets=3), "weights are simulated when whole and without runs"),
    ]
    for losses, told in cases:
        with subtests.test(losses=losses, told=told):
            for attempt in (sent_units_scenario, lambda *args, **options: next(sent_units(*args, **options))):
                with pytest.raises(ParameterError) as refusal:
                    attempt(4, r=1, losses=losses, units=1)
                assert str(refusal.value) == told


def test_more_paths_than_a_fabric_has_entries_for_are_refused_in_one_line() -> None:
    with pytest.raises(ParameterError) as refusal:
        sent_units_scenario(4, r=1, losses=PathLosses([0.1] * 1001), units=1)
    assert "1000" in str(refusal.value)
    assert "\n" not in str(refusal.value)
