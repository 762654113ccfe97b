"""Property: what a load is measured against, by hand on small fabrics, and that expected and offered loads agree."""

import pytest

from capsim import Batch, FatTree, FlowList, LeafSpine, LinkChange, Poisson, Scenario, estimate, memory
from capsim.fabric.endpoints import Pairing
from capsim.fabric.flows import flow_list
from capsim.fabric.load import LoadOf, counted_share, load_capacity_bps, offered
from capsim.fabric.topology import Fabric
from capsim.run import load_record, prepare
from capsmodel.checks import ParameterError

# 2 leaves with 3 hosts at 1 Gbps; 2 spines, 3 links at 2 Gbps and one at 0.5 Gbps.
SLOW = LinkChange(between=("leaf1", "spine1"), rate_bps=5e8)
KIND = LeafSpine(leaves=2, hosts_per_leaf=3, spines=2, rate_bps=2e9, host_rate_bps=1e9, links=(SLOW,))
FABRIC = KIND.build()
CAPACITY_BPS = {"host-links": 6e9, "leaf-uplinks": 6.5e9}
SHARE = {"host-links": 1.0, "leaf-uplinks": 3 / 5}  # 3 of the 5 others hang on the other leaf


@pytest.fixture(params=["host-links", "leaf-uplinks"])
def load_of(request: pytest.FixtureRequest) -> LoadOf:
    definition: LoadOf = request.param
    return definition


@pytest.mark.parametrize(
    ("fabric", "host_bps", "uplink_bps"),
    [
        (FABRIC, 6e9, 6.5e9),
        (FatTree(pods=4, hosts_per_edge=8, rate_bps=1e9).build(), 64e9, 16e9),  # 8 edges, 2 uplinks each
        (LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, oversubscription=2.0).build(), 8e9, 4e9),
    ],
)
def test_capacity_by_hand(fabric: Fabric, host_bps: float, uplink_bps: float) -> None:
    assert load_capacity_bps(fabric, "host-links") == host_bps
    assert load_capacity_bps(fabric, "leaf-uplinks") == uplink_bps


def test_share_of_the_flows_that_count(load_of: LoadOf) -> None:
    assert counted_share(FABRIC, load_of, Pairing("random")) == pytest.approx(SHARE[load_of], rel=1e-15)
    assert counted_share(FABRIC, load_of, Pairing("other-leaf")) == 1


def test_rate_and_expected_flows_by_hand(load_of: LoadOf) -> None:
    """0.5 of the capacity in flows of 1 Mbit, of which the share counts, for 2 s."""
    entry = Poisson(load=0.5, load_of=load_of, flow_bytes=125_000, duration_s=2.0)
    rate_per_s = 0.5 * CAPACITY_BPS[load_of] / (1e6 * SHARE[load_of])
    assert entry.rate_per_s(FABRIC) == pytest.approx(rate_per_s, rel=1e-14)
    assert entry.expected_flows(FABRIC) == pytest.approx(2 * rate_per_s, rel=1e-14)


def test_memory_is_checked_for_the_flows_that_the_definition_gives(
    load_of: LoadOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Poisson(load=0.5, load_of=load_of, flow_bytes=125_000, duration_s=2.0)
    scenario = Scenario(fabric=KIND, traffic=(entry, Batch(flows=7, flow_bytes=1)))
    needed = {"host-links": 6007, "leaf-uplinks": 10841}[load_of]  # 2 * 3000 / 1 and 2 * 3250 / 0.6, and 7
    monkeypatch.setattr(memory, "available_bytes", lambda: needed * estimate.BYTES_PER_DRAWN_FLOW)
    estimate.check_traffic(scenario, FABRIC)
    monkeypatch.setattr(memory, "available_bytes", lambda: needed * estimate.BYTES_PER_DRAWN_FLOW - 1)
    with pytest.raises(ParameterError, match=f"{needed} flows would not fit"):
        estimate.check_traffic(scenario, FABRIC)


def flows_of(*rows: tuple[int, int, int, float, int]) -> FlowList:
    src, dst, flow_bytes, start_s, tag = zip(*rows, strict=True)
    return flow_list(src, dst, flow_bytes=flow_bytes, start_s=start_s, tag=tag)


def test_offered_load_by_hand(load_of: LoadOf) -> None:
    """Over 0.1 s, 30 MB to the other leaf and 45 MB within a leaf; entry 1 is another matter."""
    flows = flows_of(
        (0, 3, 10_000_000, 0.5, 0), (0, 1, 45_000_000, 0.55, 0), (4, 1, 20_000_000, 0.6, 0), (2, 5, 10**9, 0.9, 1)
    )
    load = {"host-links": 6e9 / 6e9, "leaf-uplinks": 2.4e9 / 6.5e9}[load_of]
    assert offered(flows, FABRIC, load_of, entry=0) == pytest.approx((load, 0.1), rel=1e-12)
    assert offered(flows, FABRIC, load_of, entry=1) == (None, 0.0)


def test_flows_that_stay_below_their_leaf_offer_its_uplinks_nothing() -> None:
    flows = flows_of((0, 1, 1000, 0.0, 0), (1, 2, 1000, 1.0, 0))
    assert offered(flows, FABRIC, "leaf-uplinks", entry=0) == (0.0, 1.0)


def test_hosts_of_one_leaf_cannot_load_its_uplinks() -> None:
    alone = LeafSpine(leaves=1, hosts_per_leaf=2, spines=1).build()
    with pytest.raises(ParameterError, match="no flow leaves its leaf"):
        Poisson(load=0.5, load_of="leaf-uplinks", flow_bytes=1000, flows=5).rate_per_s(alone)


def test_the_record_has_asked_and_offered_of_each_entry_over_one_capacity() -> None:
    """4000 arrivals: the load offered has a relative error of 1/sqrt(4000), or of their counted part."""
    common = {"flow_bytes": 50_000, "flows": 4000}
    traffic = (
        Poisson(load=0.6, load_of="leaf-uplinks", **common),  # type: ignore[arg-type]
        Poisson(load=0.3, **common),  # type: ignore[arg-type]
        Poisson(flows_per_s=1000.0, pairs="other-leaf", **common),  # type: ignore[arg-type]
        Batch(flow_bytes=1000),
    )
    scenario = Scenario(fabric=KIND, traffic=traffic)
    record = load_record(scenario, prepare(scenario))
    assert [entry["asked"] for entry in record["entries"]] == [0.6, 0.3, None, None]
    assert [entry["capacity_bps"] for entry in record["entries"]] == [6.5e9, 6e9, 6e9, 6e9]
    expected = (0.6, 0.3, 1000 * 50_000 * 8 / 6e9)
    for entry, load in zip(record["entries"], expected, strict=False):
        assert entry["offered"] == pytest.approx(load, rel=3.3 / (0.6 * 4000) ** 0.5)
    assert record["entries"][3]["offered"] is None
    assert set(record["definitions"]) == set(CAPACITY_BPS)
