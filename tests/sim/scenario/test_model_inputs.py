"""Contract: what closed forms take from a scenario is what its run has, or one line says why there is none."""

import pytest

from capsim import Batch, Dumbbell, FatTree, LeafSpine, LinkChange, ParameterError, Poisson, Scenario, model_inputs

LINKS = {"rate_bps": 100e9, "delay_s": 1e-6}
SMALL = LeafSpine(leaves=4, hosts_per_leaf=4, spines=4, **LINKS)
SLOW = (LinkChange(between=("leaf0", "spine0"), rate_bps=1e9),)
TRAFFIC = Poisson(workload="websearch", load=0.4, flows=100)


def inputs(scheme="dctcp", *, fabric=SMALL, traffic=TRAFFIC, **changes):
    settings = {"profile": "100g", "nic": "round_robin"} | changes
    return model_inputs(Scenario(fabric=fabric, traffic=(traffic,), scheme=scheme, **settings))


def test_load_fabric_and_sizes_are_those_of_the_run():
    found = inputs(traffic=Poisson(workload="websearch", load=0.4, load_of="leaf-uplinks", flows=9))
    assert found.load == pytest.approx(0.4 / 0.8)
    (uplinks,) = found.fabric.layers
    assert (uplinks.hosts, uplinks.links, uplinks.share, uplinks.rate_bps) == (4, 4, 0.8, 100e9)
    assert found.sizes.quantile(0.5) == TRAFFIC.size_distribution().quantile(0.5)


def test_rates_and_delays_of_layers_are_those_of_the_fabric():
    fabric = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, oversubscription=4.0, host_delay_s=3e-6, **LINKS)
    found = inputs(fabric=fabric).fabric
    assert (found.delay_s, found.layers[0].delay_s, found.layers[0].rate_bps) == (3e-6, 1e-6, 50e9)
    assert found.load_ratio(found.layers[0]) == pytest.approx(4 * 4 / 7)
    tree = inputs(fabric=FatTree(pods=4, hosts_per_edge=3, **LINKS)).fabric
    assert [(layer.hosts, layer.links) for layer in tree.layers] == [(3, 2), (6, 4)]


def test_schemes_are_taken_apart():
    parts = {
        "dctcp": ("one", "arrival", "turns", "marks", 10, 15),
        "rps+dctcp+rack": ("sprayed", "arrival", "turns", "marks", 10, 15),
        "dctcp_plb": ("one", "arrival", "turns", "marks", 10, 15),
        "pfabric": ("sprayed", "remaining", "arrival", "none", 29, 0),
        "rps_pq": ("sprayed", "priority", "arrival", "losses", 10, 0),
        "repflow": ("one", "arrival", "turns", "losses", 10, 0),
    }
    found = {}
    for name in parts:
        scheme = inputs(name).scheme
        numbers = (scheme.first_window_packets, scheme.standing_packets)
        found[name] = (scheme.path, scheme.order, scheme.nic, scheme.control, *numbers)
    assert found == parts


def test_first_window_of_uet_is_that_of_nscc_and_its_ports_trim():
    scheme = inputs("uet").scheme
    assert (scheme.path, scheme.control, scheme.standing_packets) == ("sprayed", "delays", 29)
    assert scheme.first_window_packets == pytest.approx(1.5 * 9.34848e-6 * 100e9 / 8 / 4110)
    assert inputs("uet_drop").scheme.control == "losses"


def test_a_prediction_is_of_the_scenario_or_of_other_loads():
    found = inputs("uet")
    assert found.predict([0.4, 0.6]).short.mean_s[0] == found.predict().short.mean_s


REFUSED = {
    "scheme": ({"scheme": "mptcp"}, "mptcp has no formula of its completion times"),
    "copies with marks": ({"scheme": "repflow_dctcp"}, "repflow_dctcp has no formula"),
    "traffic": ({"traffic": Batch(flow_bytes=1000)}, "traffic is batch: completion times have a formula"),
    "pairs": ({"traffic": Poisson(workload="websearch", load=0.4, flows=9, pairs="permutation")}, "traffic is of some"),
    "links": ({"fabric": LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, links=SLOW, **LINKS)}, "fabric has links"),
    "pods": ({"fabric": FatTree(pods=8, built_pods=4, **LINKS)}, "fabric.built_pods leaves pods out"),
    "kind": ({"fabric": Dumbbell(hosts_per_side=2, **LINKS)}, "fabric.kind = 'dumbbell' has no formula"),
}  # fmt: skip


def test_what_has_no_model_is_refused_in_one_line(subtests):
    for name in REFUSED:
        with subtests.test(name=name):
            arguments, text = REFUSED[name]
            with pytest.raises(ParameterError) as found:
                inputs(**arguments)
            assert str(found.value).startswith(text)
            assert "\n" not in str(found.value)
