"""Agreement: completion times under pFabric at one link against the M/G/1 queue under SRPT.

Schrage and Miller stop a job in the middle of its service; a link finishes the packet that it is sending. So a flow may
take longer than the model says, by one packet time at each stop: once for itself, and what stops it stops it longer by
no more. That much is declared.
"""

import numpy as np
import pytest
from agreement.measured.shortest_remaining import flow_service, shortest_remaining

from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.queueing.srpt import srpt_mean_response, srpt_mean_response_of_size

pytestmark = pytest.mark.agreement

SEGMENTS = (10, 100)
SERVICE = flow_service(SEGMENTS)
FLOWS = {0.3: 20_000, 0.7: 60_000}
DETECT = 0.15


@pytest.fixture(params=FLOWS)
def load(request):
    return request.param


@pytest.fixture
def row(load, measured):
    setting = {"segments": SEGMENTS, "load": load, "flows": FLOWS[load], "seed": 21}
    return measured(shortest_remaining, setting).iloc[0]


def test_mean_completion_time(load, row, compare):
    model_s, packet_s = srpt_mean_response(load, service=SERVICE), SERVICE.times[0] / SEGMENTS[0]
    verdict = compare(model_s, mean_in_row(row, "response_s"), detect=DETECT * model_s, bias=(0, packet_s))
    assert verdict, verdict


def test_mean_slowdown(load, row, compare):
    times = np.array(SERVICE.times)
    model = float(np.mean(srpt_mean_response_of_size(times, load=load, service=SERVICE) / times))
    verdict = compare(
        model, mean_in_row(row, "slowdown"), detect=DETECT * model, bias=(0, np.mean(1 / np.array(SEGMENTS)))
    )
    assert verdict, verdict
