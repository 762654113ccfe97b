"""Identity: a row of a run of MMPTCP against the tables of the same run, and the mix of traffic it is about."""

import numpy as np
import pytest
from msgspec import structs
from pandas import DataFrame

from capsim import DrawnFault, Result, Scenario, simulate
from capsim.scenario.scenario import from_dict
from capsim.study.claims.samples import RunRows, Statement
from capsim.study.measures import mmptcp_run
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.studies import published_studies

STUDIES = published_studies()
DRAIN_S = 2


def arguments(name, setting=TEXT, scale="paper", **values):
    """Return the arguments of a run at some values of axes, the others the first of theirs."""
    point = tuple((axis, values.get(axis, found.first)) for axis, found in STUDIES[name].axes.items())
    return STUDIES[name].arguments(point, setting, scale)


def scenario(name, *of_run, **values) -> Scenario:
    return from_dict(arguments(name, *of_run, **values)["scenario"])


def busy() -> Scenario:
    """Return a tree of 16 hosts and 10 Mbit/s, 5 of them with long flows, with 5 packets a port."""
    found = scenario("mmptcp-t1-100", scheme="PS")
    long, short = found.traffic
    fabric = structs.replace(found.fabric, pods=4, hosts_per_edge=2, rate_bps=10e6, buffer_packets=5)
    mix = structs.replace(short, skip_hosts=5, flows_per_s=120.0, duration_s=0.8)
    return found.replace(fabric=fabric, traffic=(structs.replace(long, hosts=5), mix), end_s=0.9)


BUSY = busy()


@pytest.fixture(scope="module")
def run() -> tuple[dict[str, float], Result]:
    scenario = BUSY.replace(scheme="ps")
    row = mmptcp_run(scenario.to_dict(), seed=2)
    return row, simulate(scenario.replace(seed=2))


def test_completion_times_are_those_of_the_short_flows_that_ended(run):
    row, result = run
    short = result.flows[result.flows["traffic_entry"] == 1]
    ended_s = short.loc[short["finished"], "fct_s"].to_numpy()
    assert 0 < len(ended_s) < len(short) == row["short_flows"]
    assert row["completed_short"] == len(ended_s)
    assert row["mean_fct_short_s"] == pytest.approx(ended_s.mean())
    assert row["fct_short_std_s"] == pytest.approx(np.std(ended_s))
    assert row["p50_fct_short_s"] == np.sort(ended_s)[(len(ended_s) + 1) // 2 - 1]
    assert (
        row["p50_fct_short_s"] <= row["p75_fct_short_s"] <= row["p99_fct_short_s"] == ended_s.max() == row["p99_fct_s"]
    )


def test_times_at_the_sender_are_from_the_answer_to_the_syn_to_the_last_acknowledgement(run):
    """A SYN waits up to 50 ms here, in the queues of a network of 10 Mbit/s; all else is the same run."""
    at_receiver, result = run
    row = mmptcp_run(BUSY.replace(scheme="ps").to_dict(), seed=2, completion_time="sender")
    flows = result.flows[result.flows["traffic_entry"] == 1]
    ended = flows[flows["acked_fct_s"].notna()]
    times_s = ended["start_s"] + ended["acked_fct_s"] - ended["established_s"]
    assert (ended["established_s"] - ended["start_s"]).max() > 0.05
    assert row["mean_fct_short_s"] == pytest.approx(times_s.mean())
    assert row["mean_fct_short_s"] != pytest.approx(at_receiver["mean_fct_short_s"], rel=0.01)
    assert row["fct_short_std_s"] == pytest.approx(np.std(times_s))
    assert row["p99_fct_short_s"] == pytest.approx(times_s.max())
    assert row["completed_short"] == len(ended) <= at_receiver["completed_short"]
    assert {name for name in row if row[name] != at_receiver[name]} <= {
        "completed_short",
        *(name for name in row if "fct" in name),
    }


def test_goodput_is_that_of_the_long_flows_over_the_whole_run(run):
    row, result = run
    long = result.flows[result.flows["traffic_entry"] == 0]
    assert not long["finished"].any()
    rates = 8 * long["delivered_bytes"] / BUSY.end_s
    assert row["mean_throughput_long_bps"] == pytest.approx(rates.mean())
    assert row["throughput_long_std_bps"] == pytest.approx(np.std(rates))
    assert row["mean_throughput_long_bps"] == pytest.approx(result.summary.mean_throughput_long_bps)


def test_core_and_access_are_the_links_down(run):
    row, result = run
    ports = result.ports.assign(node=result.ports["name"].str.split(">").str[0])
    core = ports[ports["node"].str.startswith("core")]
    access = ports[ports["layer"] == "edge>host"]
    assert row["core_utilisation"] == pytest.approx(core["utilisation"].mean())
    for name, rows in (("core", core), ("access", access)):
        lost = rows["packets_dropped"].sum() / rows["packets_in"].sum()
        assert row[f"{name}_loss_ratio"] == pytest.approx(lost)


def test_events_are_counted_over_short_flows(run):
    row, result = run
    short = result.flows[result.flows["short"]]
    assert row["timeouts_short"] == short["timeouts"].sum() > 0
    assert row["fast_retransmits_short"] == short["fast_retransmits"].sum()
    assert row["spurious_short"] == short["spurious_retransmissions"].sum()
    assert row["flows_without_timeout"] + row["timed_out_short"] == len(short)
    counts = short["timeouts"].value_counts()
    assert row["flows_with_fewer_than_2_timeouts"] == counts.reindex([0, 1]).sum()
    assert row["flows_with_more_than_2_timeouts"] == counts[counts.index > 2].sum()
    repeats = short["fast_retransmits"].value_counts()
    assert row["flows_with_0_fast_retx"] == repeats[0]
    assert row["flows_with_1_fast_retx"] == repeats.get(1, 0)


@pytest.mark.parametrize(("name", "hosts", "long"), [("mmptcp-t2", 512, 168), ("mmptcp-dupthresh", 128, 42)])
def test_a_third_of_the_hosts_has_long_flows_and_no_short_ones(name, hosts, long):
    found = scenario(name, scheme="MMPTCP")
    flows = simulate(found.replace(end_s=1e-6)).flows
    by_entry = [flows[flows["traffic_entry"] == entry] for entry in (0, 1)]
    assert found.fabric.size().hosts == hosts
    assert len(by_entry[0]) == long
    for end in ("src", "dst"):
        assert not set(by_entry[0][end]) & set(by_entry[1][end])
    assert len(by_entry[1]) == pytest.approx(256 * 20, rel=0.05)
    assert found.end_s == 20 + DRAIN_S


def test_every_port_holds_100_packets_those_of_hosts_too():
    for name in ("mmptcp-t2", "mmptcp-incast", "mmptcp-thr-long"):
        fabric = scenario(name).fabric
        assert fabric.buffer_packets == fabric.host_buffer_packets == 100


def test_the_reduced_mix_has_the_same_ratios():
    whole, small = (scenario("mmptcp-t3", TEXT, scale) for scale in ("paper", "reduced"))
    for ratio in (
        lambda one: one.fabric.hosts_per_edge / one.fabric.pods,
        lambda one: one.traffic[0].hosts / one.fabric.size().hosts,
        lambda one: one.traffic[1].flows_per_s / one.fabric.size().hosts,
        lambda one: one.traffic[0].hosts / one.traffic[1].skip_hosts,
    ):
        assert ratio(whole) == pytest.approx(ratio(small))
    assert small.traffic[1].duration_s == whole.traffic[1].duration_s / 4


def schemes_of(name, claim, setting):
    """Return the schemes of the simulator whose runs a claim compares in a setting."""
    compared = STUDIES[name].comparisons(claim, sampled=True)
    return {STUDIES[name].scheme(point, setting) for one in compared for point in one.points}


def test_settings_of_the_authors_code_name_its_schemes(subtests):
    """Short flows with one subflow, with the threshold of scattered ones, or with its subflows have other schemes."""
    cases = [
        ("short_subflows = 1", "mptcp", "mptcp_tcp"),
        ("short_dup_ack_threshold = topology", "ps_tcp", "ps_tcp_ns3"),
        ("subflows_as_in_ns3 = true", "mptcp", "mptcp_ns3"),
        ("subflows_as_in_ns3 = true", "mmptcp", "mmptcp_ns3"),
        ("subflows_as_in_ns3 = true", "ps_tcp", "ps_tcp"),
    ]
    for setting, one, other in cases:
        with subtests.test(setting=setting, one=one, other=other):
            claim = f"mmptcp-t3-{one}-fct"
            assert [schemes_of("mmptcp-t3", claim, each) for each in (TEXT, setting)] == [{one}, {other}]


@pytest.mark.parametrize(
    ("setting", "passed"), [(TEXT, {"completion_time": "sender"}), ("completion_time = receiver", {})]
)
def test_completion_times_are_those_of_the_authors_code(setting, passed):
    """The runs of the other reading are those that are asked for nothing."""
    run = arguments("mmptcp-t2", setting, scheme="PS")
    assert {name: value for name, value in run.items() if name != "scenario"} == passed


def test_one_subflow_for_short_flows_leaves_none_to_open():
    """Both settings of the authors' code at once: short flows of MPTCP are TCP, those of MMPTCP are its code's."""
    settings = STUDIES["mmptcp-t1-100"].settings
    both = next(one for one in settings if "short_subflows = 1, subflows_as_in_ns3 = true" in one)
    assert schemes_of("mmptcp-t1-100", "mmptcp-s32-100", both) == {"mptcp_tcp", "mmptcp_ns3"}


def test_the_first_phase_has_the_threshold_of_its_point():
    values = STUDIES["mmptcp-dupthresh"].axes["threshold"].values
    runs = {one: arguments("mmptcp-dupthresh", scheme="MMPTCP", threshold=one) for one in values}
    thresholds = {one: run["scenario"]["params"]["sharing"].get("fixed_threshold", 0) for one, run in runs.items()}
    assert thresholds == {one: one for one in (*range(3, 24), 0)}


def test_only_one_scheme_has_limited_transmit():
    limited = {
        scheme: arguments("mmptcp-incast", scheme=scheme)["scenario"]["params"]["transport"]["limited_transmit"]
        for scheme in ("MMPTCP", "MMPTCP_LT", "MPTCP", "TCP")
    }
    assert limited == {"MMPTCP": False, "MMPTCP_LT": True, "MPTCP": False, "TCP": False}


def test_hot_spots_are_links_of_core_switches():
    assert scenario("mmptcp-cc").fabric.faults == ()
    (hot,) = scenario("mmptcp-cc", "hotspots = true").fabric.faults
    assert hot == DrawnFault(nodes="core*", share=0.25, buffer_packets=10)


@pytest.mark.parametrize(("setting", "pods", "small_hosts"), [(TEXT, 1, 4), ("traffic.stride_hosts = 64", 4, 8)])
def test_a_stride_leads_out_of_the_pod_at_both_scales(setting, pods, small_hosts):
    whole, small = (scenario("mmptcp-thr-long", setting, scale, scheme="MPTCP") for scale in ("paper", "reduced"))
    assert [one.stride_hosts for one in whole.traffic] == [pods * whole.fabric.size().hosts // whole.fabric.pods]
    assert small.fabric.size().hosts == 16
    assert [one.stride_hosts for one in small.traffic] == [small_hosts]


def test_a_study_without_a_reduced_scale_is_sampled_at_that_of_the_paper():
    scales = {name: STUDIES[name].scale(sampled=True) for name in ("mmptcp-incast", "mmptcp-thr-long")}
    assert scales == {"mmptcp-incast": "paper", "mmptcp-thr-long": "reduced"}


def test_the_second_largest_is_below_one_and_above_the_others():
    """MPTCP's spread over TCP's, and TCP's over that of the three others."""
    compared = STUDIES["mmptcp-hotspot"].comparisons("mmptcp-f3c-tcpsd")
    pairs = {tuple(dict(point)["scheme"] for _, point in one.terms) for one in compared}
    assert pairs == {("TCP", "MMPTCP"), ("TCP", "PS"), ("TCP", "PS_TCP"), ("MPTCP", "TCP")}
    assert {tuple(weight for weight, _ in one.terms) for one in compared} == {(1.0, -1.0)}


def test_most_stable_is_what_grows_least():
    """A scheme whose times double under load, where those of the others treble, has two thirds of their growth."""
    statement = Statement(STUDIES["mmptcp-load"], "mmptcp-f9a-ps")
    times_s = {0.1: {"PS": 1.0}, 0.7: {"PS": 2.0}}
    points = statement.points
    at = [dict(point) for point in points]
    found = [times_s[one["long_share"]].get(one["scheme"], 1.5 if one["long_share"] == 0.1 else 4.5) for one in at]
    rows = RunRows(points, DataFrame({"seed": [1] * len(points), "mean_fct_short_s": found}))
    assert [np.exp(one.samples) for one in statement.samples(rows, 1)] == [pytest.approx(2 / 3)] * 5
