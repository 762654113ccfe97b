"""Agreement: hosts that send in turns against the M/G/1 queue under processor sharing.

Under processor sharing the mean slowdown is 1 / (1 - load), whatever the distribution of sizes and whatever the size of
the flow (Kleinrock 1976, section 4.4). With turns of a packet a flow of N packets ends after N turns of all that are
there, the first and last of which may be cut short or wait for a packet that is being sent: at most one turn more or
less, 1 / N of its time. That much is declared. With FIFO the two sizes have slowdowns of their own (Pollaczek and
Khinchine), far from it.
"""

import numpy as np
import pytest
from agreement.measured.processor_sharing import processor_sharing

from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

SEGMENTS = (30, 150)
FLOWS = {0.4: 12_000, 0.7: 50_000}
DETECT = 0.15


@pytest.fixture(params=FLOWS)
def load(request):
    return request.param


def row_of(measured, nic, load):
    setting = {"segments": SEGMENTS, "nic": nic, "load": load, "flows": FLOWS[load], "seed": 31}
    return measured(processor_sharing, setting).iloc[0]


@pytest.mark.parametrize("segments", SEGMENTS)
def test_slowdown_in_turns_is_that_of_processor_sharing(load, segments, measured, compare):
    model = 1 / (1 - load)
    samples = mean_in_row(row_of(measured, "round_robin", load), f"slowdown_{segments}")
    verdict = compare(model, samples, detect=DETECT * model, bias=model / segments)
    assert verdict, verdict


@pytest.mark.parametrize("segments", SEGMENTS)
def test_slowdown_in_order_of_arrival_is_that_of_fifo(load, segments, measured, compare):
    sizes = np.array(SEGMENTS, float)
    wait = load * np.mean(sizes**2) / (2 * np.mean(sizes) * (1 - load))
    model = 1 + wait / segments
    samples = mean_in_row(row_of(measured, "fifo", load), f"slowdown_{segments}")
    verdict = compare(model, samples, detect=DETECT * model)
    assert verdict, verdict
