"""Property: no scheme beats the ideal completion time, and where it can be reached, one does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsim import (
    Batch,
    Dumbbell,
    FatTree,
    LeafSpine,
    LinkChange,
    Listed,
    ParallelPaths,
    Scenario,
    schemes,
    simulate,
)
from capsim.fabric.flows import flow_list
from capsim.fabric.kinds import AnyFabric
from capsim.results.ideal import ideal_fct_s

pytestmark = pytest.mark.agreement

ROUNDING = 1e-12  # of seconds from picoseconds
TWO = {"leaves": 2, "hosts_per_leaf": 2, "spines": 2}
SLOW_SPINE = LinkChange(between=("leaf*", "spine1"), rate_bps=1e8)
FABRICS: dict[str, AnyFabric] = {
    "leaf-spine": LeafSpine(**TWO),
    "oversubscribed": LeafSpine(**TWO, oversubscription=4.0),
    "many slow spines": LeafSpine(leaves=2, hosts_per_leaf=8, spines=8, oversubscription=4.0),
    "one spine is slow": LeafSpine(**TWO, links=(SLOW_SPINE,)),
    "far spine": LeafSpine(**TWO, links=(LinkChange(between=("leaf*", "spine1"), delay_s=1e-4),)),
    "fat-tree": FatTree(pods=4),
    "parallel": ParallelPaths(paths=4, hosts_per_side=4, rate_bps=2.5e8, host_rate_bps=1e9),
    "dumbbell": Dumbbell(hosts_per_side=4, rate_bps=1e8, host_rate_bps=1e9),
}
SIZES = (1, 100, 1460, 1461, 1500, 2920, 2921, 4381, 14_600, 14_601, 100_000, 10**6)


def alone(fabric: AnyFabric, scheme: str, *, sizes: tuple[int, ...] = SIZES, **more: Any) -> Any:
    """Return the flows table of transfers from the first to the last host, one after another, in one window each."""
    last = fabric.node_counts()[0] - 1
    rows = tuple((0, last, size, 2.0 * number) for number, size in enumerate(sizes))
    has_window = hasattr(schemes()[scheme].short.transport.params, "initial_window_packets")
    params = {"transport": {"initial_window_packets": 1000}} if has_window else {}
    scenario = Scenario(fabric=fabric, traffic=(Listed(flows=rows),), scheme=scheme, params=params, **more)
    return simulate(scenario).flows


@pytest.mark.parametrize("scheme", schemes())
@pytest.mark.parametrize("name", FABRICS)
def test_no_scheme_is_faster_than_ideal(name: str, scheme: str) -> None:
    flows = alone(FABRICS[name], scheme)
    assert flows["finished"].all()
    assert (flows["slowdown"] >= 1 - ROUNDING).all()


@pytest.mark.parametrize("name", ["leaf-spine", "fat-tree", "dumbbell", "many slow spines"])
def test_some_scheme_reaches_it(name: str) -> None:
    """In one window without a loss, where the NIC or one path decides, or as many packets as paths are on the way."""
    fabric, sizes = FABRICS[name], (100, 1460, 2920, 14_600, 100_000)
    best = np.min([alone(fabric, scheme, sizes=sizes)["slowdown"] for scheme in ("ecmp", "rps", "caps_ns2")], axis=0)
    counted = best[:2] if name == "many slow spines" else best
    assert counted == pytest.approx(1, rel=1e-12)


def test_a_small_last_packet_may_overtake_on_another_path() -> None:
    """A full packet and one of 141 B: over two spines the small one is there first, over one link it must follow."""
    size, full_us, small_us, delays_us = 1460 + 101, 12.0, 1.128, 50.0
    spread = ideal_fct_s(flow_list([0], [2], flow_bytes=[size], start_s=[0.0]), LeafSpine(**TWO).build(), **BYTES)
    in_order = ideal_fct_s(flow_list([0], [1], flow_bytes=[size], start_s=[0.0]), ONE_PATH.build(), **BYTES)
    assert spread[0] * 1e6 == pytest.approx(4 * full_us + delays_us, rel=1e-12)
    assert in_order[0] * 1e6 == pytest.approx(3 * full_us + small_us + 37.5, rel=1e-12)
    assert alone(LeafSpine(**TWO), "rps", sizes=50 * (size,))["slowdown"].min() == pytest.approx(1, rel=1e-12)


BYTES = {"mss_bytes": 1460, "header_bytes": 40}
ONE_PATH = Dumbbell(hosts_per_side=1)


@pytest.mark.parametrize(
    ("full_packets", "uplinks_us"),
    [(1, 12), (2, 12.12), (3, 24), (20, 120), (21, 120), (22, 132)],
)
def test_links_side_by_side_send_whole_packets(full_packets: int, uplinks_us: float) -> None:
    """Two spines of 1 Gbit/s and one of 100 Mbit/s behind a NIC of 100 Gbit/s: 12, 12 and 120 us for a packet.

    Then once more 12 us down to the leaf, 0.12 us twice at the hosts, and no delay. The second packet is 0.12 us late.
    """
    slow = LinkChange(between=("leaf*", "spine2"), rate_bps=1e8)
    fabric = LeafSpine(
        leaves=2, hosts_per_leaf=1, spines=3, rate_bps=1e9, host_rate_bps=1e11, delay_s=0.0, links=(slow,)
    ).build()
    flows = flow_list([0], [1], flow_bytes=[1460 * full_packets], start_s=[0.0])
    assert ideal_fct_s(flows, fabric, **BYTES)[0] * 1e6 == pytest.approx(uplinks_us + 12 + 0.24, rel=1e-12)


DOWN = (
    LinkChange(between=("leaf1", "spine*"), down_s=0.0, up_s=0.001),
    LinkChange(between=("leaf*", "spine0"), down_s=0.0, up_s=0.5),
    LinkChange(between=("leaf1", "spine*"), down_s=1e-12),
)


@pytest.mark.parametrize("down", DOWN)
def test_links_that_are_down_at_first_do_not_change_the_ideal(down: LinkChange) -> None:
    def ideal(*links: LinkChange) -> list[float]:
        fabric = LeafSpine(**TWO, links=(SLOW_SPINE, *links))
        flows = Listed(flows=((0, 2, 10_000, 0.0), (1, 3, 200_000, 0.0)))
        result = simulate(Scenario(fabric=fabric, traffic=(flows,), end_s=3.0)).flows
        assert not (result["slowdown"] < 1).any()
        return list(result["ideal_fct_s"])

    never = LinkChange(between=("leaf*", "spine*"), down_s=4000.0)
    assert ideal(down) == ideal(never)


def test_a_host_that_never_has_a_link_has_an_ideal_too() -> None:
    links = (LinkChange(between=("*", "*"), down_s=0.0),)
    flows = simulate(Scenario(fabric=LeafSpine(**TWO, links=links), traffic=(Batch(flow_bytes=9),), end_s=0.1)).flows
    assert not flows["finished"].any()
    assert (flows["ideal_fct_s"] < 1e-3).all()


def test_a_detour_over_fast_links_is_not_faster_than_ideal() -> None:
    """Both direct ways have a slow link; while these are down, packets go over a third leaf, and are faster."""
    cross = (("leaf0", "spine1"), ("leaf1", "spine0"))
    slow = tuple(LinkChange(between=pair, rate_bps=1e7) for pair in cross)
    down = tuple(LinkChange(between=pair, down_s=0.5) for pair in cross)
    fabric = LeafSpine(leaves=3, hosts_per_leaf=1, spines=2, links=(*slow, *down))
    flows = simulate(Scenario(fabric=fabric, traffic=(Listed(flows=((0, 1, 14_600, 1.0),)),))).flows
    assert flows["fct_s"][0] < 0.001
    assert flows["slowdown"][0] >= 1


@st.composite
def unequal_fabrics(draw: Any) -> AnyFabric:
    rates, delays = st.sampled_from((1e8, 3e8, 1e9, 1e10)), st.sampled_from((0.0, 1e-6, 1e-4))
    ends = st.sampled_from(("leaf0", "leaf1", "leaf2", "leaf*")), st.sampled_from(("spine0", "spine1", "spine*"))
    change = st.builds(
        LinkChange,
        between=st.tuples(*ends),
        one_way=st.booleans(),
        rate_bps=rates,
        delay_s=delays,
        down_s=st.sampled_from((None, 0.0, 1e-3)),
    )
    return LeafSpine(
        leaves=3,
        hosts_per_leaf=2,
        spines=draw(st.integers(2, 3)),
        rate_bps=draw(rates),
        host_rate_bps=draw(rates),
        delay_s=draw(delays),
        links=tuple(draw(st.lists(change, max_size=3))),
    )


@settings(max_examples=60, deadline=None)
@given(
    fabric=unequal_fabrics(),
    scheme=st.sampled_from(("ecmp", "rps", "caps", "caps_decode", "repflow", "sack")),
    mss_bytes=st.sampled_from((100, 1460, 9000)),
    seed=st.integers(0, 100),
)
def test_no_slowdown_is_below_one_whatever_fails(fabric: AnyFabric, scheme: str, mss_bytes: int, seed: int) -> None:
    traffic = (Batch(min_bytes=1, max_bytes=40_000, flows=30, spread_s=0.01),)
    params = {"transport": {"mss_bytes": mss_bytes, "min_rto_s": 1e-3, "initial_window_packets": 100}}
    scenario = Scenario(fabric=fabric, traffic=traffic, scheme=scheme, params=params, seed=seed, end_s=2.0)
    assert not (simulate(scenario).flows["slowdown"] < 1 - ROUNDING).any()
