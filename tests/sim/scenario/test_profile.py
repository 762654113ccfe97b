"""Contract: a profile fills in what a scenario leaves out, by rules that start from the fabric, and nothing else."""

import re
from dataclasses import fields
from types import FunctionType

import pytest

from capsim import (
    Batch,
    FatTree,
    LeafSpine,
    ParameterError,
    Result,
    Scenario,
    Scheme,
    Study,
    compare,
    load_scenario,
    presets,
    scheme,
    schemes,
    simulate,
    with_settings,
)
from capsim.roles.hooks import HOST_ROLES, ROLES, hooks_of
from capsim.run.simulation import prepare
from capsim.scenario.profile import filled, rate_remarks, setting_remarks, sizes_of
from capsim.scenario.scenario import from_dict, profile_rate_bps

TRAFFIC = [{"kind": "batch", "flow_bytes": 100_000, "flows": 4}]
SMALL = {"fabric": {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2}, "traffic": TRAFFIC}
HUNDRED = from_dict(SMALL | {"profile": "100g"})


def test_the_rules_over_six_links_of_1_us(subtests):
    """By hand: 12 us, and on six links a packet and a frame of 64 bytes. Catches one wrong factor."""
    cases = [
        ("10g", 19.5072, 17, 85, 15, 204, 102.0),
        ("25g", 15.00288, 32, 160, 15, 384, 76.8),
        ("100g", 14.02272, 43, 215, 15, 516, 71.38),
        ("400g", 12.50568, 151, 755, 31, 1812, 62.665),
        ("800g", 12.25284, 296, 1480, 60, 3552, 61.42),
        ("1.6t", 12.12642, 585, 2925, 117, 7020, 60.69375),
    ]
    for name, rtt_us, bdp, queue, threshold, window, drain_us in cases:
        with subtests.test(
            name=name, rtt_us=rtt_us, bdp=bdp, queue=queue, threshold=threshold, window=window, drain_us=drain_us
        ):
            packet_bytes = 1500 if name in ("10g", "25g") else 4150
            found = sizes_of(FatTree(pods=4, rate_bps=profile_rate_bps(name), delay_s=1e-6).build(), packet_bytes)
            assert found.rtt_s == pytest.approx(rtt_us * 1e-6, rel=1e-12)
            assert (found.bdp_packets, found.queue_packets, found.threshold_packets) == (bdp, queue, threshold)
            assert found.window_packets == window
            assert found.drain_s == pytest.approx(drain_us * 1e-6, rel=1e-12)


def test_what_is_filled_in_for_a_scheme():
    """BDP of 9.348 us at 100 Gbps: 29 packets. Catches a parameter that is forgotten or has no place."""
    assert (HUNDRED.fabric.rate_bps, HUNDRED.fabric.delay_s) == (100e9, 1e-6)
    found = filled(HUNDRED, scheme("conga+dctcp")).scenario
    assert found.fabric.buffer_packets == 145
    assert found.params == {
        "transport": {"mss_bytes": 4110, "max_window_bytes": 348 * 4110, "min_rto_s": 1e-3},
        "queue": {"threshold_packets": 15},
        "balancer": {"gap_s": pytest.approx(145 * 332e-9)},
    }
    assert "queue" not in filled(HUNDRED, scheme("ecmp")).scenario.params
    assert filled(HUNDRED, scheme("rps_trim")).scenario.params["queue"] == {"limit_bytes": 29 * 4150}
    assert filled(HUNDRED, scheme("ndp")).scenario.params["transport"]["initial_window_packets"] == 29
    found = filled(HUNDRED, scheme("uet")).scenario.params
    assert found["congestion"] == {"rate_bps": 10**11, "base_rtt_s": pytest.approx(9.34848e-6, rel=1e-9)}
    assert found["transport"]["min_rto_s"] == pytest.approx(15e-6 + 6 * 29 * 332e-9)
    assert found["queue"] == {"limit_bytes": 29 * 4150, "mark_low_bytes": 6 * 4150, "mark_high_bytes": 24 * 4150}
    drops = filled(HUNDRED, scheme("uet_drop")).scenario.params
    assert drops["transport"]["min_rto_s"] == pytest.approx(15e-6 + 6 * 145 * 332e-9)
    assert drops["queue"] == found["queue"] | {"limit_bytes": 145 * 4150}


def test_any_rate_has_a_profile(subtests):
    """Catches a list of four rates."""
    cases = [("99g", 1460), ("100g", 4110), ("800g", 4110), ("2.5g", 1460)]
    for name, payload in cases:
        with subtests.test(name=name, payload=payload):
            found = filled(from_dict(SMALL | {"profile": name}), scheme("dctcp")).scenario
            assert found.fabric.rate_bps == profile_rate_bps(name)
            assert found.params["transport"]["mss_bytes"] == payload
            assert not rate_remarks([(found, scheme("dctcp"))])


SITES = from_dict(
    SMALL
    | {"profile": "sites", "fabric": SMALL["fabric"] | {"rate_bps": 4e11, "delay_s": 4e-3, "buffer_bytes": 16_600_000}}
)


def test_between_sites_the_buffer_is_what_is_given():
    """By hand: 4 links of 4 ms each way, 4000 packets of 4150 bytes, 332 us at 400 Gbps. Catches 5 BDP, and a timer of
    six of them."""
    rtt_s = 8 * 4e-3 + 4 * (4150 + 64) * 8 / 4e11
    uet = filled(SITES, scheme("uet")).scenario
    assert uet.fabric == SITES.fabric
    assert uet.params["transport"]["min_rto_s"] == pytest.approx(1.5 * rtt_s + 332e-6)
    marks = {"mark_low_bytes": 800 * 4150, "mark_high_bytes": 3200 * 4150}
    assert uet.params["queue"] == {"limit_bytes": 4000 * 4150} | marks
    dctcp = filled(SITES, scheme("dctcp")).scenario.params
    assert dctcp["transport"]["min_rto_s"] == pytest.approx(1.5 * rtt_s + 332e-6)
    assert dctcp["transport"]["initial_rtt_s"] == pytest.approx(rtt_s)
    assert dctcp["queue"] == {"threshold_packets": 800}
    assert filled(SITES, scheme("pfabric")).scenario.params["queue"] == {"buffer_bytes": 4000 * 4150}
    in_packets = SMALL["fabric"] | {"rate_bps": 1e9, "delay_s": 4e-3, "buffer_packets": 50}
    small = filled(from_dict(SMALL | {"profile": "sites", "fabric": in_packets}), scheme("dctcp")).scenario.params
    assert small["queue"] == {"threshold_packets": 15}  # the least, above a fifth of 50
    with pytest.raises(ParameterError, match=r"^profile = 'sites': give the buffer of a port, .* fabric.buffer_bytes"):
        filled(from_dict(SMALL | {"profile": "sites"}), scheme("dctcp"))


def test_a_port_with_more_than_a_switch_has_is_named():
    """Catches the 4.8 GB that 5 BDP are between sites, of either kind of queue, and a warning at 64 MB."""
    far = from_dict(SMALL | {"profile": "400g", "fabric": SMALL["fabric"] | {"delay_s": 16e-3}})
    runs = [filled(far, scheme(name)) for name in ("uet", "ecmp")]
    (line,) = (one for one in setting_remarks([(run.scenario, run.scheme) for run in runs]) if "buffer" in one)
    bdp = runs[0].sizes.bdp_packets
    assert line.startswith(
        f"a port of uet, ecmp has a buffer of {5 * bdp * 4150 / 1e9:.4g}GB, but the ports of a switch"
    )
    near = from_dict(SMALL | {"fabric": SMALL["fabric"] | {"buffer_bytes": 64_000_000}})
    assert not [one for one in setting_remarks([(near, scheme("ecmp"))]) if "buffer" in one]
    one_more = from_dict(SMALL | {"fabric": SMALL["fabric"] | {"buffer_bytes": 64_000_001}})
    assert [one for one in setting_remarks([(one_more, scheme("ecmp"))]) if "buffer" in one]


def test_pfabric_has_its_window_ports_and_timer_at_any_rate():
    """BDP, two of them and three round trips. Catches 12 packets, 36 KB and 450 us at 100 Gbps."""
    found = filled(HUNDRED, scheme("pfabric")).scenario.params
    assert found["queue"] == {"buffer_bytes": 2 * 29 * 4150}
    expected = {"initial_window_packets": 29, "most_window_packets": 29, "rto_s": pytest.approx(3 * 9.34848e-6)}
    assert found["transport"] == {"mss_bytes": 4110, "max_window_bytes": 348 * 4110, **expected}
    at_once = [{"kind": "incast", "senders_per_round": 3, "flow_bytes": 60_000, "receiver": 0}]
    ran = simulate(from_dict(HUNDRED.to_dict() | {"traffic": at_once, "scheme": "pfabric"}))
    assert (ran.summary.timeouts, ran.summary.unfinished_flows) == (0, 0)


# Quantities of the catalogue's schemes by whether a profile fills them in, and why not
FOLLOWS = {
    *("transport.mss_bytes", "transport.max_window_bytes", "transport.min_rto_s", "transport.rto_s"),
    *("transport.most_window_packets", "congestion.rate_bps", "congestion.base_rtt_s", "queue.limit_bytes"),
    *("queue.mark_low_bytes", "queue.mark_high_bytes", "queue.threshold_packets", "queue.buffer_bytes"),
    "balancer.gap_s",
}
OF_SOME = {  # of these components only
    "transport.initial_window_packets": {"ndp", "pfabric"},  # others: as RFC 6928 has it; NSCC sets that of uet
    "congestion.rate_bps": {"nscc"},
}
STAYS = {
    "bytes of headers and control packets": {
        *("transport.ack_bytes", "transport.header_bytes", "transport.syn_bytes", "transport.sack_block_bytes"),
        *("transport.sack_option_bytes", "queue.trim_bytes"),
    },
    "of flows or of a stream, whatever the rate": {
        *("balancer.threshold_bytes", "sharing.switch_bytes", "layer.cell_bytes", "nic.quantum_bytes"),
        *("sharing.buffer_segments", "sharing.stream_segments", "congestion.least_window_segments"),
        *("layer.block_packets", "layer.coded_packets", "layer.fixed_packets", "layer.small_window_packets"),
    },
    "bounds that no round trip comes near, or 0 for off": {
        *("transport.initial_ssthresh_bytes", "transport.max_rto_s", "transport.granularity_s", "layer.flush_s"),
        *("transport.initial_rto_s", "transport.syn_rto_s", "transport.ack_delay_s", "balancer.tolerance_s"),
        *("queue.reference_rate_bps", "marking.freeze_s"),
    },
    "filled in where the round trip is longer than the least timer": {"transport.initial_rtt_s"},
    "of a paper, for its own network": {
        *("balancer.age_s", "balancer.dre_period_s", "balancer.deadline_s", "balancer.period_s"),
        *("balancer.mode_period_s", "balancer.packet_bytes", "layer.first_gap_s", "layer.packet_s"),
        *("layer.request_s", "layer.rtt_long_s", "layer.rtt_short_s", "layer.sampling_s", "marking.pause_s"),
        "sharing.join_gap_s",
    },
    "a user's own traffic": {"transport.rate_bps", "transport.on_s", "transport.off_s"},
}


def components_of(chosen: Scheme):
    """Return role and component of all of a scheme's."""
    of_hosts = [(role, getattr(stack, role)) for stack in chosen.stacks for role in HOST_ROLES]
    return of_hosts + [(role, getattr(chosen, role)) for role in ROLES if role not in HOST_ROLES]


def test_each_quantity_of_the_catalogue_follows_the_profile_or_says_why_not(subtests):
    """A parameter that is added later has to be classed. Catches one of 1 Gbps that a profile forgets."""
    for name in schemes():
        with subtests.test(name=name):
            chosen = scheme(name)
            known = filled(HUNDRED, chosen).scenario.params
            stays = set().union(*STAYS.values())
            for role, component in components_of(chosen):
                if role == "transport" and not component.reliable:
                    continue
                for one in component.settable:
                    setting = f"{role}.{one}"
                    value = getattr(component.params, one)
                    quantity = isinstance(value, int | float) and not isinstance(value, bool)
                    if not quantity or one.rpartition("_")[2] not in ("s", "bps", "bytes", "packets", "segments"):
                        continue
                    of_some = component.name in OF_SOME.get(setting, {component.name})
                    follows = setting in FOLLOWS | OF_SOME.keys() and of_some and setting not in stays
                    off = setting.startswith("queue.mark_") and value == 0
                    assert (one in known.get(role, {})) == (follows and not off), (component.name, setting)
                    assert follows or not of_some or setting in stays, f"{component.name}: {setting} is in no class"


def read_by(function: FunctionType, seen: set[FunctionType]) -> set[str]:
    """Return the names that a hook and the functions that it calls read."""
    if function in seen:
        return set()
    seen.add(function)
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    inner = [read_by(each, seen) for each in called if isinstance(each, FunctionType)]
    return set(function.__code__.co_names).union(*inner)


OF_ENGINES = {"mss_bytes", "max_window_bytes", "trim_bytes", "stream_segments", "buffer_segments"}


def test_what_no_hook_reads_cannot_be_set(subtests):
    """Catches a parameter that is inherited and has no effect, so that who sets it believes that it has."""
    for name in schemes():
        with subtests.test(name=name):
            for role, component in components_of(scheme(name)):
                hooks = [getattr(component, each) for each in hooks_of(role)]
                read = set().union(*(read_by(each, set()) for each in hooks if each is not None))
                read |= {re.sub("_ps$", "_s", one) for one in read} | OF_ENGINES
                assert not {*component.settable} - read, (component.name, {*component.settable} - read)
                assert {*getattr(component.params, "unread", ())} <= {each.name for each in fields(component.params)}


def test_a_parameter_that_a_scheme_does_not_read_is_refused_or_named():
    text = "transport.min_rto_s has no effect on pfabric: there are "
    with pytest.raises(ParameterError, match=text):
        scheme("pfabric").with_params(transport={"min_rto_s": 0.01})
    asked = from_dict(SMALL | {"params": {"transport": {"min_rto_s": 0.01, "rto_s": 1e-3}}})
    assert setting_remarks([(asked, scheme("pfabric"))]) == ["transport.min_rto_s has no effect on pfabric"]
    least = from_dict(SMALL | {"params": {"transport": {"min_rto_s": 0.01}}})
    compared = compare(least, schemes=["ecmp", "pfabric"], seeds=1)
    assert compared.remarks() == ["transport.min_rto_s has no effect on pfabric"]
    again, plain = (simulate(one, scheme="pfabric") for one in (least, from_dict(SMALL)))
    assert again.flows.equals(plain.flows)


def test_a_warm_up_that_outlasts_the_run_is_named():
    for warm_up_s, lines in ((4.9, 0), (5.0, 1), (6.0, 1)):
        asked = from_dict(SMALL | {"warm_up_s": warm_up_s, "end_s": 5.0})
        found = setting_remarks([(asked, scheme("ecmp")), (asked, scheme("rps"))])
        assert found == [f"no flow counts: the warm-up lasts {warm_up_s:g} s, and the run ends at 5 s"] * lines


def test_hosts_that_send_in_another_order_are_named():
    ran = [(HUNDRED, scheme(name)) for name in ("uet", "ndp", "dctcp", "pfabric")]
    line = "hosts of uet, ndp send flows round robin, those of dctcp first in, first out"
    assert setting_remarks(ran) == [f'{line}: nic = "round_robin" is for all']
    assert setting_remarks([(HUNDRED.replace(nic="round_robin"), one) for _, one in ran]) == []
    varied = [(HUNDRED.replace(nic=nic), scheme("dctcp")) for nic in ("fifo", "round_robin")]
    assert setting_remarks(varied) == []


def test_no_flow_begins_with_a_timeout_where_links_are_long():
    """A round trip of 2 ms: the first timer follows from it, and not from the least of 1 ms."""
    far = from_dict(HUNDRED.to_dict() | {"fabric": HUNDRED.to_dict()["fabric"] | {"delay_s": 250e-6}})
    of_far, of_near = (filled(one, scheme("rack_rps")).scenario.params["transport"] for one in (far, HUNDRED))
    assert of_far["initial_rtt_s"] == pytest.approx(2e-3, rel=0.01)
    assert "initial_rtt_s" not in of_near


def test_a_window_is_at_most_that_of_tcp():
    """2 ms at 400 Gbps are 100 MB, and twelve times that more than the 1 GiB that a header can say."""
    far = from_dict(SMALL | {"profile": "400g", "fabric": SMALL["fabric"] | {"delay_s": 250e-6}})
    assert filled(far, scheme("ecmp")).scenario.params["transport"]["max_window_bytes"] == 2**30


def test_every_kind_of_transport_takes_it(subtests):
    """Catches a parameter that a transport does not have, and headers of 40 bytes for all."""
    for name in ["pfabric", "mmptcp_ns3", "cbr", "presto", "caps"]:
        with subtests.test(name=name):
            found = filled(HUNDRED, scheme(name)).scenario
            transport = prepare(found.replace(scheme=name)).scheme.long.transport
            if transport.reliable:
                assert transport.params.mss_bytes + transport.params.header_bytes == 4150


def test_what_is_set_stays():
    """Catches a rule that overwrites: of the fabric, of a parameter, and a packet size that nothing follows."""
    fabric = SMALL["fabric"] | {"delay_s": "12.5us", "buffer_bytes": "1MB"}
    params = {"transport": {"min_rto_s": 0.2, "mss_bytes": 1460}}
    asked = from_dict(SMALL | {"fabric": fabric, "params": params, "profile": "100g"})
    found = filled(with_settings(asked, {"seed": 2}), scheme("dctcp"))  # which reads its tables again
    assert (found.scenario.fabric.delay_s, found.scenario.fabric.buffer_packets) == (12.5e-6, None)
    assert found.scenario.params["transport"]["min_rto_s"] == 0.2
    assert found.sizes.packet_bytes == 1500
    assert found.values["queue.threshold_packets"] == -(-found.sizes.bdp_packets // 5)


@pytest.mark.parametrize("rate_bps", [1e9, 25e9])
def test_hosts_of_another_rate_are_refused(rate_bps):
    asked = Scenario(
        fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=rate_bps), traffic=(), profile="10g"
    )
    with pytest.raises(
        ParameterError, match=r"^profile = '10g' is for hosts of 10 Gbps, but theirs is (1|25) Gbps: set"
    ):
        filled(asked, scheme("ecmp"))


def test_what_is_no_profile_is_told_how_one_is_written(subtests):
    for name in ["40", "0g", "40Gbps", "1e3g", "site", 400, None]:
        with subtests.test(name=name):
            rule = f"profile = {name!r}: write the rate of hosts, as in 100g or 1.6t, or sites"
            with pytest.raises(ParameterError, match=re.escape(rule)):
                from_dict(SMALL | {"profile": name})


def test_a_result_has_the_numbers_and_is_run_again_without_the_rules(tmp_path):
    """Catches a result that keeps the name of the profile, whose rules may change."""
    made = simulate(HUNDRED, scheme="dctcp")
    kept = Result.load(made.save(tmp_path / "kept"))
    assert not kept.scenario.profile
    assert kept.scenario.params["queue"] == {"threshold_packets": 15}
    assert simulate(kept.scenario).manifest["id"] == made.manifest["id"]
    with pytest.raises(ParameterError, match="is not filled in"):
        prepare(HUNDRED)


def test_comparisons_and_studies_fill_it_in_for_each_scheme(tmp_path):
    """Catches parameters of one scheme for all of them, and rows of a study that differ from those of a comparison."""
    names = ["dctcp", "letflow"]
    compared = compare(HUNDRED, schemes=names, seeds=1)
    assert compared.filled["letflow"].values["balancer.gap_s"] == pytest.approx(145 * 332e-9)
    tables = SMALL | {"profile": "100g"}
    found = Study(scenario=tables, axes={"scheme": names}, seeds=1).run(tmp_path)
    assert found.runs["id"].tolist() == compared.runs["id"].tolist()
    assert found.remarks() == compared.remarks() == []


def test_defaults_of_1_gbps_at_faster_links_are_told_in_one_line(subtests):
    cases = [
        ("dctcp", "minimum RTO 200 ms, window 1 MB below rate x RTT, K = 20 packets; profile 100g fits"),
        ("letflow", "minimum RTO 200 ms, window 1 MB below rate x RTT, flowlet gap 500 us; profile 100g fits"),
        (
            "uet",
            "window 1 MB below rate x RTT, base RTT of 1 Gbps for NSCC; profile 100g fits",
        ),
        ("ndp", "window 1 MB below rate x RTT, first window of 30 packets below rate x RTT; profile 100g fits"),
    ]
    for name, told in cases:
        with subtests.test(name=name, told=told):
            fast = with_settings(from_dict(SMALL), {"fabric.rate_bps": 100e9})
            assert rate_remarks([(fast, scheme(name))]) == [f"defaults of 1 Gbps where hosts have 100 Gbps: {told}"]


@pytest.mark.parametrize(
    "changed",
    [
        {},  # 1 Gbps
        {
            "fabric.rate_bps": 100e9,
            "transport.min_rto_s": 0.2,
            "transport.max_window_bytes": 10**6,
            "queue.threshold_packets": 20,
        },
    ],
)
def test_nothing_is_told_where_it_is_meant(changed):
    """Catches a remark on what a scenario sets itself, and on links of 1 Gbps."""
    assert rate_remarks([(with_settings(from_dict(SMALL), changed), scheme("dctcp"))]) == []


def test_a_window_that_fits_is_not_told():
    fast = with_settings(from_dict(SMALL), {"fabric.rate_bps": 10e9, "fabric.delay_s": 1e-6})
    (line,) = rate_remarks([(fast, scheme("ecmp"))])
    assert line == "defaults of 1 Gbps where hosts have 10 Gbps: minimum RTO 200 ms; profile 10g fits"


def test_no_preset_has_a_profile():
    """What the papers say is in them, and runs of them stay as they are."""
    assert {one.profile for one in presets().values()} == {""}
    assert "profile" not in load_scenario("p64").to_dict()
    assert (
        Scenario(fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2), traffic=(Batch(flow_bytes=1),)).profile == ""
    )
