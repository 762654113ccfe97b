"""Agreement: waits at the ports that DRILL(d, 0) takes against the limit of many queues, of which the shortest of d.

Theory has no memory, and independent queues in the limit of many ports; packets have one size, so service is constant.
A finite number of ports adds to the wait, by `PORT_COST` over it of the mean at loads up to 0.8 (measured on 50 ports,
with other seeds: 1.2, 1.8 and 2.9% in the settings of two and three drawn queues, with errors of 0.7%).
"""

import pytest
from agreement.measured.drawn_queues import drawn_queue_waits

from capsmodel.papers.measurements.means import mean_in_row
from capsmodel.queueing.drawn_queues import drawn_queues_mean_wait, drawn_queues_tail
from capsmodel.queueing.mg1 import mg1_mean_wait

pytestmark = pytest.mark.agreement

PORTS, PACKETS = 200, 400_000
PORT_COST = 1.5
SETTINGS = [(2, 0.5), (2, 0.8), (3, 0.8)]
CONSTANT = {"service": "constant"}


@pytest.fixture
def row(measured):
    """Return the row of one setting."""

    def waits(drawn: int, load: float, memories: int = 0):
        setting = {"drawn": drawn, "load": load, "memories": memories, "ports": PORTS, "packets": PACKETS}
        return measured(drawn_queue_waits, setting | {"seed": 60 + drawn}).iloc[0]

    return waits


@pytest.mark.parametrize(("drawn", "load"), SETTINGS)
def test_mean_wait(row, compare, drawn, load):
    model = drawn_queues_mean_wait(load, drawn=drawn, **CONSTANT)
    sides = {"bias": (0.0, PORT_COST / PORTS * model), "detect": 0.08 * model}
    verdict = compare(model, mean_in_row(row(drawn, load), "wait_services"), **sides)
    assert verdict, verdict


@pytest.mark.parametrize(("drawn", "load"), SETTINGS)
def test_all_drawn_queues_are_busy(row, compare, drawn, load):
    """The load to the power of d, whatever the service."""
    model = load**drawn
    sides = {"bias": (0.0, PORT_COST / PORTS * model), "detect": 0.06 * model}
    verdict = compare(model, mean_in_row(row(drawn, load), "waited_prob"), **sides)
    assert verdict, verdict


@pytest.mark.parametrize(("drawn", "load"), SETTINGS[1:])
def test_two_packets_in_all_drawn_queues(row, compare, drawn, load):
    """The tail falls doubly exponentially; what ports add there is a larger share, twice the square of the choices."""
    model = float(drawn_queues_tail(2, load=load, drawn=drawn, **CONSTANT)) ** drawn
    found = mean_in_row(row(drawn, load), "waited_1_prob")
    verdict = compare(model, found, bias=(0.0, 2 * drawn**2 / PORTS * model), detect=0.4 * model)
    assert verdict, verdict


def test_one_drawn_queue_is_one_of_many_md1(row, compare):
    model = mg1_mean_wait(0.5, mean_service=1.0, second_moment_service=1.0)
    verdict = compare(model, mean_in_row(row(1, 0.5), "wait_services"), detect=0.08 * model)
    assert verdict, verdict


def test_exponential_service_would_wait_longer(row, compare):
    model = drawn_queues_mean_wait(0.8, drawn=2)
    verdict = compare(model, mean_in_row(row(2, 0.8), "wait_services"), detect=0.08 * model)
    assert verdict.verdict == "disagrees"
    assert verdict.measured < 0.6 * model


def test_a_tie_for_the_remembered_queue_costs_more_than_its_memory_saves(row, compare):
    """DRILL(2, 1) compares three queues. Of equal ones it takes the remembered, whose service began last.

    With exponential service, which forgets when it began, that would not matter.
    """
    model = drawn_queues_mean_wait(0.8, drawn=2, **CONSTANT)
    verdict = compare(model, mean_in_row(row(2, 0.8, memories=1), "wait_services"), detect=0.08 * model)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > model
