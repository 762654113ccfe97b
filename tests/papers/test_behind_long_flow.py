"""Identity and engine = engine: RepFlow's toy pod, alone by hand and beside a long flow in both engines."""

import pytest

from capsmodel.papers.measurements.behind_long_flow import run_behind_long_flow


def test_a_short_flow_alone_takes_a_handshake_and_ten_packets() -> None:
    """Four links of 1 ms and 50 Mbps: SYN, answer and third acknowledgement of 40 bytes, then 1500 bytes each."""
    flows = run_behind_long_flow(copies=1, long_flow=False, short_flows=3, seed=2).flows
    syn_s, packet_s, links = 40 * 8 / 50e6, 1500 * 8 / 50e6, 4
    expected_s = 2 * links * (syn_s + 1e-3) + syn_s + links * 1e-3 + (10 + links - 1) * packet_s
    assert flows["fct_s"].to_list() == pytest.approx([expected_s] * 3, rel=1e-9)


@pytest.mark.agreement
@pytest.mark.parametrize("copies", [1, 2])
def test_both_engines_give_the_same_flows(copies: int) -> None:
    fast, slow = (
        run_behind_long_flow(
            copies=copies, long_flow=True, short_flows=2, seed=1, start_s=0.2, spare_s=0.2, engine=engine
        )
        for engine in ("compiled", "reference")
    )
    assert fast.flows.equals(slow.flows)
    assert fast.ports.equals(slow.ports)
