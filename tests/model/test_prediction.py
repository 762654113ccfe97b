"""Identity and property: completion times without packets, where they are known exactly."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy import integrate, special

import capsmodel as cm
from capsmodel import FabricModel, FlowSizes, LinkLayer, ParameterError, SchemeModel, load_workload, predict_fct
from capsmodel.metrics import ideal_fct_s
from capsmodel.prediction.sharing import (
    erlang_c,
    fair_share_slowdown,
    host_links_slowdown,
    inner_link,
    port_probs,
    port_slowdown,
)
from capsmodel.prediction.start import (
    QUEUE_KEPT,
    climb_packets,
    distance_kept,
    first_marked,
    window_idle_s,
    windows_of,
)
from capsmodel.prediction.states import States, exponential, geometric, uniform
from capsmodel.prediction.waits import DELAY_USE, MARKED_SHARE, MARKED_USE
from capsmodel.queueing.settling import mean_slowdown

SMALL = {"leaves": 4, "hosts_per_leaf": 4, "spines": 4, "rate_bps": 100e9, "delay_s": 1e-6}
FABRIC = FabricModel.leaf_spine(**SMALL)
ONE_LEAF = FabricModel.leaf_spine(**SMALL | {"leaves": 1})
WEB = load_workload("websearch")
PLAIN = {"payload_bytes": 1460, "header_bytes": 40, "ack_bytes": 0}
UET = SchemeModel(path="sprayed", control="delays", first_window_packets=43, standing_packets=29, payload_bytes=4110)
DCTCP = SchemeModel(control="marks", first_window_packets=10, standing_packets=15, payload_bytes=4110)
PFABRIC = SchemeModel(path="sprayed", order="remaining", control="none", first_window_packets=29, payload_bytes=4110)
FIRST = SchemeModel(order="priority", control="losses", payload_bytes=4110)
RENO = SchemeModel(control="losses", payload_bytes=4110)
ALL = {"uet": UET, "dctcp": DCTCP, "pfabric": PFABRIC, "priority": FIRST, "reno": RENO}


def chain(load, use):
    """Return the exact probabilities of numbers of flows at a port: one has all of the link, more a share of it."""
    load, use = (Fraction(value).limit_denominator(10**6) for value in (load, use))
    weights = [Fraction(1), load]
    while weights[-1] > 1e-18:
        weights.append(weights[-1] * load / use)
    total = sum(weights)
    return [float(weight / total) for weight in weights]


def flows_at_port(load, use):
    return sum(n * prob for n, prob in enumerate(chain(load, use)))


def queued(load, use):
    """Return how often flows have a queue at a port that marks: two or more, or one that came to be alone from two."""
    none, one, two, *more = chain(load, use)
    return one * use * two / (load * none + use * two) + two + sum(more)


def predicted(load=0.4, *, fabric=FABRIC, sizes=WEB, scheme=UET, **thresholds):
    return predict_fct(load, fabric=fabric, sizes=sizes, scheme=scheme, **thresholds)


def test_at_load_0_with_a_window_that_is_never_full_a_flow_takes_its_ideal_time(subtests):
    for flow_bytes in [1, 1460, 1461, 50_000]:
        with subtests.test(flow_bytes=flow_bytes):
            scheme = SchemeModel(path="sprayed", control="delays", first_window_packets=100, **PLAIN)
            found = predicted(0.0, fabric=ONE_LEAF, sizes=FlowSizes.fixed(flow_bytes), scheme=scheme)
            ideal_s = ideal_fct_s(
                flow_bytes, rate_bps=100e9, n_hops=2, propagation_s=2e-6, mss_bytes=1460, header_bytes=40
            )
            assert found.short.mean_s == pytest.approx(ideal_s, rel=1e-12)
            assert found.short.quantile_s(0.99) == pytest.approx(ideal_s, rel=1e-12)


def test_at_load_0_a_leaf_spine_mixes_two_and_four_hops_by_the_share_of_pairs():
    found = predicted(0.0, sizes=FlowSizes.fixed(1000), scheme=SchemeModel(control="delays", **PLAIN))
    kinds = {"rate_bps": 100e9, "mss_bytes": 1460, "header_bytes": 40}
    near, far = (ideal_fct_s(1000, n_hops=hops, propagation_s=hops * 1e-6, **kinds) for hops in (2, 4))
    assert found.short.mean_s == pytest.approx(3 / 15 * near + 12 / 15 * far, rel=1e-12)


def test_at_load_0_slow_start_waits_a_round_trip_less_the_window_between_windows():
    scheme = SchemeModel(control="losses", first_window_packets=10, **PLAIN)
    found = predicted(0.0, fabric=ONE_LEAF, sizes=FlowSizes.fixed(40 * 1460), scheme=scheme)
    packet_s = 12_000 / 100e9
    rtt_s = 4e-6 + 2 * packet_s
    assert found.short.terms["slow start"] == pytest.approx((rtt_s - 10 * packet_s) + (rtt_s - 20 * packet_s), rel=1e-9)


def test_mean_slowdown_of_long_flows_under_one_leaf_is_that_of_two_shared_links_while_they_send(subtests):
    for load in [0.1, 0.5, 0.8]:
        with subtests.test(load=load):
            scheme = SchemeModel(
                control="delays", first_window_packets=10**6, payload_bytes=1460, header_bytes=0, ack_bytes=0
            )
            found = predicted(load, fabric=ONE_LEAF, sizes=FlowSizes.fixed(1460 * 1000), scheme=scheme)
            packet_s = 8 * 1460 / 100e9
            sending_s, alone_s = 1000 * packet_s, 2e-6 + 1001 * packet_s
            assert found.long.mean_slowdown == pytest.approx(
                (alone_s + (host_links_slowdown(load, port_use=DELAY_USE) - 1) * sending_s) / alone_s, rel=1e-12
            )


def test_mean_slowdown_of_long_flows_does_not_depend_on_sizes_but_for_the_start_and_the_way():
    at_once = FabricModel.leaf_spine(**SMALL | {"leaves": 1, "delay_s": 0})
    scheme = SchemeModel(control="delays", first_window_packets=10**9, **PLAIN)
    names = ["websearch", "fb_hadoop_homa", "datamining_vl2"]
    found = [predicted(0.5, fabric=at_once, sizes=load_workload(name), scheme=scheme).long for name in names]
    assert np.ptp([flows.mean_slowdown for flows in found]) < 0.002  # a packet on the way


def test_erlang_c_of_whole_numbers_is_the_textbook_sum(subtests):
    for servers, load in [(1, 0.3), (2, 0.5), (7, 0.9), (40, 0.95)]:
        with subtests.test(servers=servers, load=load):
            offered = servers * load
            last = offered**servers / special.factorial(servers) / (1 - load)
            rest = sum(offered**n / special.factorial(n) for n in range(servers))
            assert erlang_c(servers, load=load) == pytest.approx(last / (rest + last), rel=1e-12)


@pytest.mark.parametrize("servers", [0.4, 1.5, 6.3])
def test_erlang_c_of_real_numbers_is_jagermans_integral(servers):
    offered = 0.7 * servers
    inverse = offered * integrate.quad(lambda t: np.exp(-offered * t) * (1 + t) ** servers, 0, np.inf)[0]
    loss = 1 / inverse
    assert erlang_c(servers, load=0.7) == pytest.approx(loss / (1 - 0.7 * (1 - loss)), rel=1e-7)


def test_a_port_that_two_flows_use_in_part_is_a_birth_death_chain(subtests):
    for load, use in [(0.1, 1.0), (0.5, 0.9), (0.7, 0.95), (0.6, 0.8)]:
        with subtests.test(load=load, use=use):
            none, one, *more = chain(load, use)
            assert port_probs(load, use) == pytest.approx((none, one, sum(more)), rel=1e-12)
            assert port_slowdown(load, use) == pytest.approx(flows_at_port(load, use) / load, rel=1e-12)


def test_the_links_of_two_hosts_that_are_used_fully_are_two_shared_links():
    for load in (0.0, 0.3, 0.9):
        assert host_links_slowdown(load) == pytest.approx(mean_slowdown(load), rel=1e-12)


def test_an_inner_link_as_slow_as_a_host_whose_flows_are_never_slowed_elsewhere_is_one_more_shared_link():
    layer = LinkLayer(name="x", rate_bps=1e9, delay_s=0, hosts=1000, links=1, share=1.0)
    fabric = FabricModel(rate_bps=1e9, delay_s=0, layers=(layer,))
    tiny = 1e-7  # of the host links; 1e-4 of the inner one
    added, _ = inner_link(fabric, layer, load=tiny, path="one")
    assert added == pytest.approx(1e-4 / (1 - 1e-4), rel=1e-3)


def test_spraying_takes_inner_links_away_where_many_hosts_share_many():
    wide = FabricModel.leaf_spine(**SMALL | {"hosts_per_leaf": 64, "spines": 64})
    one, sprayed = (fair_share_slowdown(wide, load=0.5, path=path) for path in ("one", "sprayed"))
    assert one > sprayed
    assert sprayed == pytest.approx(mean_slowdown(0.5), rel=1e-3)


def test_load_ratio_and_kinds_of_a_fat_tree_add_up():
    fabric = FabricModel.fat_tree(pods=4, hosts_per_edge=4, rate_bps=10e9, delay_s=1e-6)
    edge, core = fabric.layers
    assert [fabric.load_ratio(layer) for layer in (edge, core)] == pytest.approx([28 / 31 * 4 / 2, 24 / 31 * 8 / 4])
    assert [share for share, _ in fabric.kinds()] == pytest.approx([3 / 31, 4 / 31, 24 / 31])
    assert fabric.base_rtt_s(1500, 64) == pytest.approx(12e-6 + 6 * 8 * 1564 / 10e9)


def test_groups_of_a_geometric_number_keep_its_mean_and_tail(subtests):
    for load in [0.0, 0.2, 0.7, 0.95]:
        with subtests.test(load=load):
            numbers, probs = geometric(load)
            assert probs.sum() == pytest.approx(1, abs=1e-12)
            assert numbers @ probs == pytest.approx(load / (1 - load), rel=1e-9)
            assert np.all(np.diff(numbers) > 0)
            for k in range(5):
                assert probs[numbers > k + 0.5].sum() == pytest.approx(load ** (k + 1), abs=1e-12)


@pytest.mark.parametrize("law", [exponential, uniform])
def test_groups_of_a_law_of_mean_1(law):
    values, probs = law()
    assert probs.sum() == pytest.approx(1)
    assert values @ probs == pytest.approx(1)
    assert np.all(np.diff(values) > 0)


def test_quantile_of_states_is_the_least_value_that_enough_do_not_exceed():
    states = States([np.array([3.0, 1.0, 2.0])], [np.array([0.2, 0.5, 0.3])])
    assert [states.quantile(q) for q in (0.0, 0.5, 0.51, 0.8, 0.81, 0.99)] == [1, 1, 2, 2, 3, 3]


def test_quantiles_of_many_states_are_those_of_all_sorted(subtests):
    """Wrong line: the bin, or its place in it, of a value that stands alone, far away, or thousands of times."""
    rng = np.random.default_rng(3)
    cases = {
        "apart": rng.exponential(1e-5, 5000),
        "one far away": np.append(rng.uniform(0, 1, 3000), 1e9),
        "ties": rng.integers(0, 5, 4000).astype(float),
        "equal": np.full(100, 2.5e-6),
        "one": np.array([0.0]),
        "nearly equal": np.array([1.0, np.nextafter(1.0, 2.0)]),
        "subnormal": np.array([0.0, 5e-324, 1e-320]),
    }
    for name, values in cases.items():
        with subtests.test(name=name):
            probs = rng.uniform(0.1, 1, len(values))
            order = np.argsort(values)
            upto = np.cumsum(probs[order]) / probs.sum()
            for q in (0.0, 0.013, 0.5, 0.77, 0.99, 0.9999):
                expected = values[order][min(np.searchsorted(upto, q), len(values) - 1)]
                assert States([values], [probs]).quantile(q) == expected


def test_windows_double_until_one_is_above_the_room_are_halved_while_they_are_and_grow_by_one(subtests):
    cases = [
        (10, np.inf, [10, 20, 40, 80]),
        (10, 15, [10, 20, 10, 11, 12, 13, 14, 15, 16, 8, 9]),  # a busy link: above K once, and again as it climbs
        (10, 6, [10, 5, 6, 7, 3.5, 4.5]),  # a queue of K - 6
        (10, 0, [10, 5, 2.5, 2, 2, 2]),  # a queue of K and more: always marked
        (64, 15, [64, 32, 16, 8, 9]),
    ]
    for first, room, windows in cases:
        with subtests.test(first=first, room=room, windows=windows):
            assert list(islice(windows_of(first, room), len(windows))) == windows


def test_the_room_of_windows_returns_to_that_beside_a_mean_queue():
    """Of a distance of 30 packets 0.87, 0.757, 0.659, ... are left: room for 40, 36, 32, 29, 27, 24, 23, 21."""
    assert QUEUE_KEPT == 0.87
    assert list(islice(windows_of(10, 40, 10), 9)) == [10, 20, 40, 20, 21, 22, 23, 24, 12]


def test_window_idle_is_the_sum_over_windows_that_do_not_end_the_flow():
    packets, rtt_s, pace_s = np.array([30.0]), np.array(100.0), np.array(1.0)
    idle_s = {room: float(window_idle_s(packets, rtt_s, pace_s, first=10, room=room)[0]) for room in (np.inf, 15, 0)}
    # 10, 20; 10, 20: 30 packets need two windows. Marked always: 10, 5, 2.5, and six of 2 that do not end it.
    assert idle_s == {np.inf: 90.0, 15: 90.0, 0: 90.0 + 95 + 97.5 + 6 * 98}


def test_window_idle_has_a_row_for_each_flow_and_is_that_of_each_state_alone():
    packets, rtt_s, pace_s = np.array([5.0, 25.0, 60.0]), np.array([[40.0, 80.0]]), np.array([[1.0], [2.0], [3.0]])
    for room in (np.inf, 15, 6, 0):
        keys = {"first": 10, "most": 15, "room": room}
        many = window_idle_s(packets, rtt_s, pace_s, **keys)
        assert many.shape == (3, 3, 2)
        for (flow, pace, rtt), value in np.ndenumerate(many):
            alone = window_idle_s(packets[[flow]], rtt_s[0, [rtt]], pace_s[pace], **keys)
            assert value == pytest.approx(alone.item(), rel=1e-12)


def test_distance_kept_is_that_of_a_sum_of_queues_of_which_each_keeps_a_share_of_the_one_before():
    for trips in (1, 2, 3, 10, 40):
        k = np.arange(trips)
        variance = np.sum(QUEUE_KEPT ** np.abs(k[:, np.newaxis] - k))  # of the sum, by the matrix of covariances
        assert distance_kept(trips) == pytest.approx(np.sqrt(variance) / trips, rel=1e-12)


def test_window_idle_returns_to_that_of_queues_of_mean_length():
    """Of windows of 10, 20, 40, 80 packets the first three do not end a flow of 100; none lasts for a round trip."""
    packets, found_s, mean_s, pace_s = np.array([10.0, 100.0]), np.array([300.0, 150.0]), np.array(200.0), np.array(1.0)
    none, three = window_idle_s(packets, found_s, pace_s, first=10, mean_rtt_s=mean_s)
    assert none.tolist() == [0, 0]
    assert three == pytest.approx(3 * 200 - 70 + distance_kept(3) * 3 * (found_s - mean_s), rel=1e-12)


def test_acknowledgements_wait_at_the_port_towards_the_sender_where_ports_mark():
    """Of two windows the second waits for the acknowledgements of the first, and these at a port that flows fill."""
    keys = {"first_window_packets": 4, "payload_bytes": 4110}
    sizes, load = FlowSizes.fixed(5 * 4110), 0.4
    far = FabricModel.leaf_spine(**SMALL | {"leaves": 1, "delay_s": 1e-3})  # no turns at the NIC take a round trip
    tiny, some = (
        predicted(load, fabric=far, sizes=sizes, scheme=SchemeModel(standing_packets=standing, **keys)).short
        for standing in (1e-9, 0.02)  # a queue that makes no window smaller than the other does
    )
    wait_s = queued(load * DCTCP.wire_ratio, MARKED_USE) * MARKED_SHARE * 0.02 * 8 * 4150 / 100e9
    more = {name: some.terms[name] - tiny.terms[name] for name in some.terms}
    assert more["receiver's port"] == pytest.approx(wait_s, rel=1e-6)
    assert more["slow start"] == pytest.approx(2 * wait_s, rel=1e-6)  # at both ports


def test_a_climb_begins_at_half_the_window_that_was_marked_for_short_flows_and_for_long_ones(subtests):
    for first, mark_above, marked in [(10, 15, 20), (10, 21, 40), (10, 10, 10), (64, 15, 64)]:
        with subtests.test(first=first, mark_above=mark_above, marked=marked):
            assert first_marked(first, mark_above) == marked
            if marked > mark_above:
                windows = list(islice(windows_of(first, mark_above), 8))
                assert windows[windows.index(marked) + 1] == marked / 2
            scheme = SchemeModel(
                control="marks", first_window_packets=first, standing_packets=mark_above, payload_bytes=4110
            )
            found = predicted(0.3, fabric=ONE_LEAF, sizes=FlowSizes.fixed(400 * 4110), scheme=scheme)
            packet_s, rho = 8 * scheme.packet_bytes / 100e9, 0.3 * scheme.wire_ratio
            pipe = np.ceil(ONE_LEAF.base_rtt_s(scheme.packet_bytes, scheme.ack_bytes) / packet_s) + mark_above
            lost = climb_packets(np.array([400.0]), first=marked / 2, pipe=pipe)[0] * packet_s
            alone_s = 2e-6 + 401 * packet_s
            assert found.long.terms["climb after marks"] == pytest.approx(rho * (1 - rho) * lost / alone_s)


def test_climb_of_a_small_flow_ends_with_it():
    assert climb_packets(np.array([0.0, 5.0]), first=10, pipe=20)[0] == 0
    small, large = climb_packets(np.array([15.0, 1e9]), first=10, pipe=20)
    assert 0 < small < large == 50


@pytest.mark.parametrize("name", ALL)
def test_predictions_grow_with_the_load_and_terms_add_up(name):
    found = predicted(np.linspace(0, 0.7, 8), scheme=ALL[name])
    for flows in (found.short, found.long):
        assert np.all(np.diff(flows.mean) > 0)
        assert sum(flows.terms.values()) == pytest.approx(flows.mean, rel=1e-12)
    assert np.all(found.short.quantile_s(0.5) <= found.short.quantile_s(0.99))


def test_the_mean_of_short_flows_is_that_of_the_distribution_whose_quantiles_are_given(subtests):
    for name in ALL:
        with subtests.test(name=name):
            found = predicted(0.4, scheme=ALL[name]).short
            q = (np.arange(500) + 0.5) / 500
            assert np.mean([found.quantile(one) for one in q]) == pytest.approx(found.mean, rel=1e-2)


def test_several_loads_are_those_of_one_each():
    many = predicted([0.2, 0.6], scheme=DCTCP)
    for position, load in enumerate((0.2, 0.6)):
        one = predicted(load, scheme=DCTCP)
        assert one.short.mean_s == many.short.mean_s[position]
        assert one.long.quantile_slowdown(0.99) == many.long.quantile_slowdown(0.99)[position]
        assert {name: term[position] for name, term in many.long.terms.items()} == one.long.terms


def test_what_a_prediction_rests_on():
    bases = {name: tuple(predicted(scheme=scheme).rests_on.values()) for name, scheme in ALL.items()}
    assert bases == {
        "uet": ("fitted", "fitted"),
        "dctcp": ("fitted", "fitted"),
        "pfabric": ("derived", "bound"),
        "priority": ("derived", "bound"),
        "reno": ("bound", "bound"),
    }


def test_a_bound_leaves_out_what_losses_cost():
    reno, dctcp = predicted(scheme=RENO), predicted(scheme=DCTCP)
    assert reno.short.mean_s < dctcp.short.mean_s
    fair = fair_share_slowdown(FABRIC, load=0.4 * RENO.wire_ratio, path="one")
    assert 0.98 * fair < reno.long.mean_slowdown < fair
    assert np.isnan(reno.long.quantile_slowdown(0.99))


def test_srpt_of_one_size_is_a_queue_in_order_of_arrival_at_both_links():
    scheme = SchemeModel(
        order="remaining", control="none", first_window_packets=9999, payload_bytes=10**6, header_bytes=0
    )
    sizes = FlowSizes.fixed(2_000_000)
    found = predicted(0.5, fabric=ONE_LEAF, sizes=sizes, scheme=scheme, long_bytes=1e6)
    alone_s = ideal_fct_s(2_000_000, rate_bps=100e9, n_hops=2, propagation_s=2e-6, mss_bytes=10**6)
    rho = 0.5 * scheme.wire_ratio
    wait_s = 2 * rho / (2 * (1 - rho)) * 16e6 / 100e9  # M/D/1, twice
    assert found.long.mean_slowdown == pytest.approx(1 + wait_s / alone_s, rel=1e-9)


def test_packets_of_a_short_flow_that_find_a_port_full_are_sent_again_a_round_trip_later():
    limit, packets = 30, 10  # below the 14 packets of a round trip: no flow is a burst that fills a port
    scheme = SchemeModel(
        path="sprayed", control="delays", first_window_packets=packets, standing_packets=limit, payload_bytes=4110
    )
    found = predicted(0.5, fabric=ONE_LEAF, sizes=FlowSizes.fixed(packets * 4110), scheme=scheme)
    rho = 0.5 * scheme.wire_ratio
    others, other_probs = geometric(rho)
    queues, queue_probs = uniform()
    full = [queue_probs[limit / 2 * queues + packets / (1 + k) > limit].sum() for k in others]
    rtt_s = ONE_LEAF.base_rtt_s(scheme.packet_bytes, scheme.ack_bytes)
    assert found.short.terms["sent again"] == pytest.approx(
        port_probs(rho, DELAY_USE)[2] * (other_probs @ full) * rtt_s, rel=1e-9
    )
    assert 0.4 < (other_probs @ full) * limit / packets < 1  # about packets / limit, less where its NIC sends in turns


def test_bursts_of_new_flows_fill_a_port_that_trims_for_two_round_trips():
    sizes = FlowSizes.fixed(90_000)
    scheme = SchemeModel(path="sprayed", control="delays", first_window_packets=999, standing_packets=1e6)
    found = predicted(0.3, fabric=ONE_LEAF, sizes=sizes, scheme=scheme)
    rho, packet_s = 0.3 * scheme.wire_ratio, 12_000 / 100e9
    rtt_s = ONE_LEAF.base_rtt_s(scheme.packet_bytes, scheme.ack_bytes)
    bursts = rho * (1 - rho) / (90_000 / 1460) * 2 * rtt_s / packet_s
    again = -np.expm1(-rho * bursts)
    assert found.short.terms["sent again"] == pytest.approx(again * 1.5 * rtt_s, rel=1e-9)


def test_a_nic_that_sends_as_it_came_makes_short_flows_wait_for_windows_of_others():
    in_order = SchemeModel(
        control="marks", nic="arrival", standing_packets=15, most_window_packets=300, payload_bytes=4110
    )
    in_turns = SchemeModel(control="marks", standing_packets=15, most_window_packets=300, payload_bytes=4110)
    assert predicted(0.2, scheme=in_order).short.mean_s > 1.5 * predicted(0.2, scheme=in_turns).short.mean_s


def test_no_flow_of_a_class_is_nan():
    short = predicted(sizes=FlowSizes.fixed(1000))
    assert np.isnan(short.long.mean_slowdown)
    assert np.isnan(short.long.quantile_slowdown(0.5))
    assert np.isnan(predicted(sizes=FlowSizes.fixed(5e6)).short.mean_s)


BAD = {
    "load": ({"load": -0.1}, "load = -0.1"),
    "nan": ({"load": float("nan")}, "load = nan"),
    "full": ({"load": 0.98}, "load = 0.98: links of hosts are asked for 1.0"),
    "shape": ({"load": np.full((2, 2), 0.1)}, "load has 2 dimensions"),
    "text": ({"load": "much"}, "load = 'much'"),
    "fabric": ({"fabric": "leaf-spine"}, "fabric is str, but it must be a FabricModel"),
    "scheme": ({"scheme": "uet"}, "scheme is str, but it must be a SchemeModel"),
    "sizes": ({"sizes": 1e6}, "sizes is float, but it must be a SizeDistribution"),
    "short": ({"short_bytes": 0}, "short_bytes = 0"),
    "inner": (
        {"load": 0.5, "fabric": FabricModel.leaf_spine(**SMALL | {"spines": 1})},
        "leaf uplinks are asked for 1.64",
    ),
}


def test_bad_input_of_predict_fct_is_one_line(subtests):
    for name in BAD:
        with subtests.test(name=name):
            arguments, text = BAD[name]
            with pytest.raises(ParameterError) as found:
                predicted(**arguments)
            assert str(found.value).startswith(text)
            assert "\n" not in str(found.value)


def test_bad_fabrics_and_schemes_are_one_line():
    with pytest.raises(ParameterError, match="pods = 3, but a k-ary fat-tree needs an even number"):
        FabricModel.fat_tree(pods=3, rate_bps=1e9, delay_s=0)
    with pytest.raises(ParameterError, match="flows need two hosts"):
        FabricModel.leaf_spine(leaves=1, hosts_per_leaf=1, spines=1, rate_bps=1e9, delay_s=0)
    with pytest.raises(ParameterError, match=r"share = 1\.5, but it must be in"):
        LinkLayer(name="x", rate_bps=1e9, delay_s=0, hosts=1, links=1, share=1.5)
    with pytest.raises(ParameterError, match="control = 'cubic': there are "):
        SchemeModel(control="cubic")
    with pytest.raises(ParameterError, match="most_window_packets = 5, below first_window_packets = 10"):
        SchemeModel(most_window_packets=5)


@pytest.mark.parametrize(("scheme", "use"), [(DCTCP, MARKED_USE), (UET, DELAY_USE)])
def test_windows_that_marks_or_delays_cut_use_a_share_of_a_port_where_they_share_it(scheme, use):
    links = [predicted(scheme=each).long.terms["host links"] for each in (scheme, RENO)]
    rho = 0.4 * RENO.wire_ratio
    added = rho / (1 - rho)  # by a link that is used fully
    assert links[0] / links[1] == pytest.approx((added + flows_at_port(rho, use) / rho - 1) / (2 * added))


def test_the_front_door_has_it():
    assert cm.predict_fct is predict_fct
