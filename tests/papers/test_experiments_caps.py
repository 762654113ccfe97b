"""Property: scenarios and measured columns of the experiments of CAPS on load, bursts, units and overhead."""

import numpy as np
import pandas as pd
import pytest

from capsim import Scenario, draw_flows, simulate
from capsim.fabric.load import layer_of, offered
from capsim.scenario.scenario import from_dict
from capsim.study.decide import decide
from capsim.study.measures import coded_run, experiment_run
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.experiments import published_experiment
from capsmodel.papers.experiments.caps_unit_afct import SIZES, number_places
from capsmodel.papers.index import read_claims
from capsmodel.papers.statements import Runs


def scenario_of(name: str, place: str, setting: str = TEXT) -> Scenario:
    return from_dict(published_experiment(name).run(("caps", place), setting=setting)["scenario"])


@pytest.mark.parametrize(("setting", "round_trip_s"), [(TEXT, 100e-6), ("delay_is = one way", 200e-6)])
@pytest.mark.parametrize("pods", [4, 8, 12])
def test_propagation_between_pods_of_the_fat_tree(pods, setting, round_trip_s):
    fabric = scenario_of("caps-fattree", f"websearch, {pods} pods", setting).fabric.build()
    assert fabric.n_hosts == pods**3 / 4
    assert fabric.routes.most_links == 6
    assert fabric.delay_ps * 1e-12 == pytest.approx(np.full(fabric.n_ports, round_trip_s / 12), rel=1e-6)


@pytest.mark.parametrize("place", ["websearch, 4 pods", "datamining, 4 pods"])
def test_flows_of_the_fat_tree_offer_a_load_of_three_tenths(place):
    """Over 2000 or 1000 flows the load has the error of the mean size and of the time; 20 seeds give it."""
    scenario = scenario_of("caps-fattree", place)
    fabric = scenario.fabric.build()
    loads = []
    for seed in range(20):
        flows = draw_flows(scenario.traffic, fabric, seed=seed, short_bytes=100_000)
        load, _ = offered(flows, layer_of(fabric, "host-links"), entry=0)
        loads.append(load)
    assert abs(np.mean(loads) - 0.3) < 3.3 * np.std(loads, ddof=1) / np.sqrt(20)


def test_the_hybrid_load_is_half_of_each_workload():
    scenario = scenario_of("caps-hybrid", "load 0.5")
    fabric = scenario.fabric.build()
    assert [(one.workload, one.load) for one in scenario.traffic] == [("websearch", 0.25), ("datamining", 0.25)]
    rates = [8 * one.mean_bytes() * one.rate_per_s(fabric) * 308 / 335 for one in scenario.traffic]
    assert rates == pytest.approx([0.25 * 12 * 20 * 1e9] * 2, rel=1e-9), "308 of the 335 other hosts: another leaf"


@pytest.mark.parametrize(("setting", "per_second"), [(TEXT, 20.0), ("load_unit = bursts per 100 ms", 200.0)])
def test_lambda_is_the_rate_of_bursts(setting, per_second):
    _, bursts = scenario_of("caps-dynamic", "lambda 20", setting).traffic
    assert 1 / bursts.mean_off_s == pytest.approx(per_second)
    assert (bursts.mean_on_s, bursts.flows_per_burst) == (0.0, 500)


@pytest.mark.parametrize(("setting", "share"), [(TEXT, 1 / 4), ("bursts = while long flows last", 1)])
def test_bursts_last_as_long_as_they_say(setting, share):
    long, bursts = scenario_of("caps-dynamic", "lambda 20", setting).traffic
    long_s = 8 * long.flow_bytes / 1e9
    assert bursts.bursts * bursts.mean_off_s == pytest.approx(share * long_s)


def test_units_have_the_size_of_their_place():
    """Windows grow from ten packets; the least size is the setting's; the best is sought by Eq. 4."""
    experiment = published_experiment("caps-unit-afct")
    units = {}
    for unit in ("optimal", "large", "small"):
        (place,) = number_places(unit, [20])
        (task,) = experiment.tasks([("caps", place)], [1], scale="quick").values()
        units[unit] = simulate(from_dict(task.payload["scenario"])).units["k"]
        assert from_dict(task.payload["scenario"]).params["layer"]["fixed_packets"] == 1
    assert set(units["small"]) == {1}
    assert units["large"].max() > 10
    assert not np.array_equal(units["optimal"], units["large"])


def test_sizes_of_short_flows_are_swept_with_a_hundred_of_them():
    for size in SIZES:
        short, long = scenario_of("caps-unit-afct", f"{size} B, large k").traffic
        assert (short.flow_bytes, short.flows, long.flows) == (size, 100, 3)


@pytest.mark.parametrize(("setting", "hosts"), [(TEXT, 336), ("hosts_share = 864", 864)])
def test_the_overhead_is_that_of_five_repair_packets_for_ten(setting, hosts):
    assert scenario_of("caps-overhead-sim", "websearch 0.3", setting).fabric.node_counts()[0] == hosts
    experiment = published_experiment("caps-overhead-sim")
    (task,) = experiment.tasks([("caps", "websearch 0.3")], [1], setting=setting, scale="quick").values()
    units = simulate(from_dict(task.payload["scenario"])).units
    full = units[units["k"] == 10]
    assert len(full) > 20
    assert set(full["n"]) == {15}
    assert units["k"].max() == 10


def test_columns_of_a_coded_run_are_those_of_its_units_and_flows():
    experiment = published_experiment("caps-unit-afct")
    (task,) = experiment.tasks([("caps", "100 flows, small k")], [2], scale="quick").values()
    row, plain = coded_run(**task.payload), experiment_run(**task.payload)
    del plain["cpu_s"]
    assert {name: str(row[name]) for name in plain} == {name: str(value) for name, value in plain.items()}
    result = simulate(from_dict(task.payload["scenario"]).replace(seed=2))
    units = result.units.dropna(subset="decoded_s")
    times_s = np.repeat((units["decoded_s"] - units["sent_s"]).to_numpy(), units["k"])
    assert row["decode_s"] == pytest.approx(times_s.mean(), rel=1e-12)
    in_order_s = []
    for _, of_flow in units.sort_values("sent_s", kind="stable").groupby("flow"):
        latest_s = 0.0
        for unit in of_flow.itertuples():
            latest_s = max(latest_s, unit.decoded_s)
            in_order_s += unit.k * [latest_s - unit.sent_s]
    assert row["decode_in_order_s"] == pytest.approx(np.mean(in_order_s), rel=1e-9)
    assert row["decode_in_order_s"] > row["decode_s"]
    repair = (result.units["n"] - result.units["k"]).sum()
    assert row["repair_share"] == pytest.approx(repair / result.flows["packets_sent"].sum(), rel=0.02)


@pytest.mark.parametrize(
    ("claim", "setting", "column"),
    [
        ("caps-f21b-small", "as the text", "decode_s"),
        ("caps-f21b-small", "decoding_delay_of = units in order", "decode_in_order_s"),
        ("caps-f21a-small", "decoding_delay_of = units in order", "mean_fct_short_s"),
    ],
)
def test_the_decoding_delay_is_that_of_the_setting(claim, setting, column):
    statement = published_experiment("caps-unit-afct").statement(claim, setting, sampled=True)
    assert statement.column_of(read_claims()[claim]) == column


@pytest.mark.parametrize(
    ("ratio", "word"),
    [(0.9, "reproduced"), (0.97, "differs in size"), (0.6, "differs in size"), (1.02, "refuted"), (1.8, "refuted")],
)
def test_up_to_a_size_is_no_difference_the_other_way(ratio, word):
    """Fig. 21(b): a decoding delay that is 10% lower is "up to 10%" lower; one that is higher is not."""
    experiment, claim = published_experiment("caps-unit-afct"), read_claims()["caps-f21b-large"]
    statement = experiment.statements[claim.id]
    noise = np.random.default_rng(1).normal(1, 1e-4, 1000)
    rows = [
        {"scheme": "caps", "place": place, "seed": seed, "decode_s": ratio if "optimal" in place else 1.0}
        for place in sorted({name for one in statement.comparisons for name in one.places})
        for seed in (1, 2, 3, 4)
    ]
    rows = [row | {"decode_s": row["decode_s"] * noise[number]} for number, row in enumerate(rows)]
    assert decide(statement.points(claim, Runs(pd.DataFrame(rows)), 4)).word == word
