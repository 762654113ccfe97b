"""Published and exact: the mean of a queue is its time integral over the time of the run, whatever its size."""

from typing import Any

import numpy as np
import pytest
from support.engine_setups import differences

from capsim import ConservationError, Dumbbell, LinkChange, Listed, Probes, Scenario, simulate
from capsim.base.bounds import MAX_TIME_PS, WIRE_BYTES, WORD
from capsim.base.objects import slotted
from capsim.engines.hosts.queue_counts import count_sojourn
from capsim.engines.reference import Network
from capsim.records import PACKET, PORT
from capsim.results.conservation import check
from capsim.results.tables import sojourn_bytes_ns, sojourn_ps
from capsim.run.simulation import prepare


def record(dtype: Any, **values: int) -> Any:
    made = slotted(dtype)(np.zeros(1, dtype)[0])
    for name, value in values.items():
        setattr(made, name, value)
    return made


def test_a_sum_of_two_words_is_exact_far_beyond_63_bits() -> None:
    """Packets of the largest size that stay the longest time, and as many of an odd one."""
    port = record(PORT)
    total_ps = total_bytes_ns = 0
    for count in range(5000):
        packet = record(PACKET, bytes=WIRE_BYTES - count % 7, enqueue_ps=count)
        count_sojourn(port, packet, MAX_TIME_PS)
        total_ps += MAX_TIME_PS - count
        total_bytes_ns += (MAX_TIME_PS - count) // 1000 * (WIRE_BYTES - count % 7)
        assert 0 <= port.sojourn_ps < WORD
        assert 0 <= port.sojourn_bytes_ns < WORD
    assert total_ps > 2**64
    assert port.sojourn_words * WORD + port.sojourn_ps == total_ps
    assert port.sojourn_bytes_words * WORD + port.sojourn_bytes_ns == total_bytes_ns
    table = np.array([tuple(getattr(port, name) for name in PORT.names or ())], PORT)
    assert sojourn_ps(table)[0] == pytest.approx(total_ps, rel=1e-15)
    assert sojourn_bytes_ns(table)[0] == pytest.approx(total_bytes_ns, rel=1e-15)


def test_the_reference_engine_has_the_same_two_words() -> None:
    """Its sums are whole numbers of any size until it writes them down."""
    port = Network(prepare(SLOW)).port_objects[0]
    port.sojourn_ps, port.sojourn_bytes_ns = 3 * WORD + 5, WORD - 1
    port.settle()
    assert (port.record.sojourn_words, port.record.sojourn_ps) == (3, 5)
    assert (port.record.sojourn_bytes_words, port.record.sojourn_bytes_ns) == (0, WORD - 1)


FLOWS = Listed(flows=((0, 1, 14_600, 0.0),))
# 10 packets of 1500 B reach the NIC of 1 Mbit/s at 0; each takes 12 ms.
SLOW = Scenario(fabric=Dumbbell(hosts_per_side=1, rate_bps=1e6, delay_s=0.0), traffic=(FLOWS,))


def nic_means(scenario: Scenario) -> tuple[float, float]:
    assert differences(prepare(scenario)) == []
    row = simulate(scenario).ports.set_index("name").loc["host0>left"]
    return float(row["mean_queue_packets"]), float(row["mean_queue_bytes"])


def test_packets_left_in_the_queue_at_the_end_count() -> None:
    """Until 30 ms there are 10, then 9 for 12 ms each, then 8 for 6 ms."""
    for name in ("ecmp", "ecmp_pq"):
        packets, size = nic_means(SLOW.replace(end_s=0.030, scheme=name))
        assert packets == pytest.approx((10 + 9 + 8 / 2) / 2.5, rel=1e-12)
        assert size == pytest.approx(1500 * packets, rel=1e-12)


def test_packets_lost_with_their_link_count_while_they_wait() -> None:
    """The link fails at 30 ms, when eight packets are queued, and nothing is sent until the end at 60 ms."""
    down = LinkChange(between=("host0", "left"), one_way=True, down_s=0.030)
    failing = Dumbbell(hosts_per_side=1, rate_bps=1e6, delay_s=0.0, links=(down,))
    for name in ("ecmp", "ecmp_pq"):
        packets, _ = nic_means(SLOW.replace(fabric=failing, end_s=0.060, scheme=name))
        assert packets == pytest.approx((10 + 9 + 8 / 2) / 5, rel=1e-12)


def test_a_pushed_out_packet_counts_while_it_waits() -> None:
    """Two long packets wait when short ones come and push them out: the mean is that of fine samples."""
    traffic = Listed(flows=((0, 2, 300_000, 0.0), (1, 2, 50_000, 0.02)))
    fabric = Dumbbell(hosts_per_side=2, rate_bps=1e7, host_rate_bps=1e8, delay_s=0.0, buffer_packets=6)
    probes = Probes(period_s=1e-6, ports=("left>right",))
    result = simulate(Scenario(fabric=fabric, traffic=(traffic,), scheme="ecmp_pq", end_s=0.2, probes=probes))
    row = result.ports.set_index("name").loc["left>right"]
    assert result.flows["packets_dropped"].sum() > 0
    assert row["mean_queue_packets"] == pytest.approx(result.samples("port.queue_packets").mean().item(), rel=1e-3)
    assert row["mean_queue_bytes"] == pytest.approx(result.samples("port.queue_bytes").mean().item(), rel=1e-3)


def test_a_long_run_behind_a_nic_without_limit_leaves_no_word() -> None:
    """200 windows of 684 packets wait at 10 Mbit/s for 1000 s: nine times as many packet-seconds as int64 holds."""
    crowd = Listed(flows=tuple((0, 1, 10**9, 0.0) for _ in range(200)))
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=1, rate_bps=1e7, host_rate_bps=1e7),
        traffic=(crowd,),
        end_s=1000.0,
        params={"transport": {"initial_window_packets": 684}},
        probes=Probes(period_s=0.01, ports=("host0>left",)),
    )
    result = simulate(scenario)
    row = result.ports.set_index("name").loc["host0>left"]
    assert row["mean_queue_packets"] * 1000.0 > 9 * 2**63 / 1e12
    assert row["mean_queue_packets"] == pytest.approx(result.samples("port.queue_packets").mean().item(), rel=1e-3)
    assert row["mean_queue_bytes"] == pytest.approx(1500 * row["mean_queue_packets"], rel=1e-6)


def test_a_mean_above_the_maximum_is_a_defect() -> None:
    setup = prepare(SLOW)
    raw = simulate(SLOW).raw
    raw.ports["sojourn_ps"][0] -= WORD
    with pytest.raises(ConservationError, match="host0>left: port: mean queue above its maximum, packets"):
        check(raw, setup.fabric)
