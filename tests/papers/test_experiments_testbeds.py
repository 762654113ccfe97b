"""Property: what the testbeds of CAPS and RepFlow are here: their round trips, senders, ON periods, and late copies."""

import numpy as np
import pytest

from capsim import draw_flows
from capsim.scenario.scenario import from_dict
from capsim.study.measures import experiment_run
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.experiments import published_experiment
from capsmodel.papers.experiments.caps_mininet_on import SHARES

MININET = ("caps-mininet-short", "caps-mininet-long", "caps-mininet-on")


def scenario_of(name, place, *, scheme="caps", setting=TEXT):
    return from_dict(published_experiment(name).run((scheme, place), setting=setting)["scenario"])


def flows_of(scenario, seed=1):
    return draw_flows(scenario.traffic, scenario.fabric.build(), seed=seed, short_bytes=scenario.short_bytes)


@pytest.mark.parametrize("name", MININET)
def test_mininet_has_links_of_20_mbps_and_1_ms_over_20_paths(name):
    experiment = published_experiment(name)
    assert experiment.is_testbed
    fabric = scenario_of(name, experiment.sampled[-1]).fabric.build()
    assert fabric.routes.most_links == 4
    assert fabric.delay_ps.tolist() == [10**9] * fabric.n_ports
    assert set(fabric.rate_bps) == {20e6}
    assert scenario_of(name, experiment.sampled[-1]).fabric.spines == 20


@pytest.mark.parametrize(("setting", "hosts", "senders"), [(TEXT, 2 * 184, 180), ("leaf_hosts = twenty", 2 * 20, 16)])
def test_hosts_send_short_flows_or_long_ones_to_the_other_leaf(setting, hosts, senders):
    scenario = scenario_of("caps-mininet-short", "180 short flows", setting=setting)
    flows = flows_of(scenario)
    fabric = scenario.fabric.build()
    assert fabric.n_hosts == hosts
    short, long = (set(np.array(flows.src)[np.array(flows.tag) == tag]) for tag in (0, 1))
    assert (len(short), len(long)) == (senders, 4)
    assert not short & long
    assert (fabric.leaf_of_host[flows.src] != fabric.leaf_of_host[flows.dst]).all()


def test_poisson_arrivals_are_twenty_a_second():
    scenario = scenario_of("caps-mininet-short", "180 short flows", setting="arrivals = poisson")
    starts_s = [np.sort(np.array(flows_of(scenario, seed).start_ps) * 1e-12)[-180:] for seed in range(20)]
    found = mean_interval([180 / one[-1] for one in starts_s], confidence=0.999)
    assert found.low < 20 < found.high


@pytest.mark.parametrize("share", SHARES[1:])
@pytest.mark.parametrize("setting", [TEXT, "arrivals = poisson", "mean_on_s = 0.5"])
def test_on_periods_take_their_share_of_the_time(share, setting):
    """Periods of 0.1 or 0.5 s in the mean last, and their flows come, while a long flow alone would send."""
    bursts, long = scenario_of("caps-mininet-on", f"ON share {share:g}", setting=setting).traffic
    on_s = 0.5 if "0.5" in setting else 0.1
    period_s = bursts.mean_on_s + bursts.mean_off_s
    assert period_s == pytest.approx(on_s / share)
    assert bursts.mean_on_s == on_s
    assert bursts.together == ("poisson" not in setting)
    assert bursts.distinct_senders
    assert abs(bursts.bursts * period_s - 8 * long.flow_bytes / 20e6) <= period_s / 2


def test_without_on_periods_there_are_long_flows_alone_and_caps_is_rps():
    experiment = published_experiment("caps-mininet-on")
    rows = []
    for scheme in ("caps", "rps"):
        (task,) = experiment.tasks([(scheme, "ON share 0")], [1], scale="quick").values()
        rows.append(experiment_run(**task.payload))
    assert all(np.isnan([row["mean_fct_short_s"], row["fct_p50_s"], row["lost_ratio_short"]]).all() for row in rows)
    assert rows[0]["mean_throughput_long_bps"] == pytest.approx(rows[1]["mean_throughput_long_bps"], rel=0.05)


@pytest.mark.parametrize(("setting", "factor"), [(TEXT, 1), ("sender_times = in packets", 50)])
def test_times_of_the_schemes_are_as_printed_or_as_many_packets(setting, factor):
    caps, freeway = (
        scenario_of("caps-mininet-short", "20 short flows", scheme=name, setting=setting).params
        for name in ("caps", "freeway")
    )
    assert caps["layer"]["sampling_s"] == pytest.approx(factor * 200e-6)
    assert caps["balancer"] == {"mode_period_s": pytest.approx(factor * 500e-6)}
    assert freeway["balancer"] == {"deadline_s": pytest.approx(5e-3)}


def test_the_cloud_has_six_paths_between_two_leaves():
    scenario = scenario_of("caps-cloud", "40 short flows")
    short, long = scenario.traffic
    assert (scenario.fabric.spines, scenario.fabric.buffer_packets, scenario.fabric.rate_bps) == (6, 512, 1e9)
    assert (short.flows, short.flows_per_s, long.hosts) == (40, 1000.0, 2)
    assert scenario.fabric.build().delay_ps.tolist() == [50 * 10**6] * scenario.fabric.build().n_ports


def test_the_comparison_with_ns_3_takes_its_runs():
    here, there = published_experiment("repflow-mn-ws"), published_experiment("repflow-ns3-ws")
    for setting in (TEXT, "replica_delay_s = 0"):
        for scheme in ("ecmp", "repflow"):
            ours = here.run((scheme, "load 0.3, 1024 hosts"), setting=setting)
            assert ours == there.run((scheme, "websearch 0.3"))


@pytest.mark.parametrize("name", ["repflow-mn-ws", "repflow-mn-dm"])
def test_second_copies_are_late_on_mininet(name):
    experiment = published_experiment(name)
    arguments = experiment.run(("repflow", "load 0.3"), scale="quick")
    assert arguments["replica_delay_s"] == 1e-3
    rows = [experiment_run(**arguments | {"replica_delay_s": delay_s}, seed=1) for delay_s in (1e-3, 0.0)]
    assert rows[0]["mean_fct_short_s"] != rows[1]["mean_fct_short_s"]
    assert rows[0]["copied_ratio"] == rows[1]["copied_ratio"] > 0
