"""Agreement: waits at one port under Poisson packets against M/D/1 and M/G/1.

Every flow is one packet, so no packet waits for the window and arrivals do not depend on earlier packets. The NIC of
host 0 is the queue; all other links are a thousand times faster, so that the completion time is the wait plus known
constants. How many packets a load needs is known beforehand (`sufficient_packets`); waits are infrequent at low load,
so 150 000 are the minimum.
"""

import pytest

from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.papers.measurements.single_port import (
    long_wait_s,
    port_waits,
    service_distribution,
    sufficient_packets,
)
from capsmodel.queueing.mg1 import mg1_mean_wait, mg1_wait_prob

pytestmark = pytest.mark.agreement

LOADS = (0.1, 0.5, 0.8)
MIXES = {"M/D/1": (1460,), "M/G/1": (100, 1460)}  # equally frequent
DETECT = 0.15


@pytest.fixture(params=MIXES)
def payload_bytes(request):
    return MIXES[request.param]


def moments(payload_bytes):
    service = service_distribution(payload_bytes)
    return {"mean_service": service.mean, "second_moment_service": service.second_moment}


@pytest.fixture
def measured_port(measured):
    def row(payload_bytes, load):
        packets = max(150_000, sufficient_packets(payload_bytes, load=load, detect_ratio=DETECT))
        setting = {"payload_bytes": payload_bytes, "load": load, "packets": packets, "seed": 11}
        return measured(port_waits, setting).iloc[0]

    return row


@pytest.mark.parametrize("load", LOADS)
def test_mean_wait(payload_bytes, load, measured_port, compare):
    """Pollaczek-Khinchine, repflow Eq. 4."""
    model_s = mg1_mean_wait(load, **moments(payload_bytes))
    row = measured_port(payload_bytes, load)
    verdict = compare(model_s, mean_in_row(row, "wait_s"), detect=DETECT * model_s)
    assert verdict, verdict


@pytest.mark.parametrize("load", LOADS)
def test_probability_of_waiting_at_all(payload_bytes, load, measured_port, compare):
    row = measured_port(payload_bytes, load)
    verdict = compare(load, mean_in_row(row, "waited_prob"), detect=0.1 * load)
    assert verdict, verdict


@pytest.mark.parametrize("load", LOADS[1:])
def test_tail_of_the_wait(payload_bytes, load, measured_port, compare):
    """At load 0.1 one packet in a thousand waits that long: too few for a comparison."""
    model = mg1_wait_prob(long_wait_s(payload_bytes), load=load, service=service_distribution(payload_bytes))
    row = measured_port(payload_bytes, load)
    verdict = compare(model, mean_in_row(row, "long_wait_prob"), detect=0.4 * model)
    assert verdict, verdict
