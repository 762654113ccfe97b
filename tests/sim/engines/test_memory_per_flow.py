"""What the records of one short flow take, by the sizes of records; pools that double may have as much again unused."""

from capsim import scheme
from capsim.engines.compiled.layout import NODE
from capsim.engines.initial_state import ring_segments
from capsim.engines.state import stack_state
from capsim.records import FLOW, SUBFLOW
from capsim.roles.hooks import HOST_ROLES
from capsim.roles.own import first_record

SHORT_SEGMENTS, PHASE_ONE_SEGMENTS = 2, 48  # of 1460 bytes: 2.9 kB and the 70 kB of MMPTCP's short flows
MAP_BYTES = FLAG_BYTES = 4  # of a segment of a subflow that shares a stream, and of a data segment


def own_bytes(stack, scope):
    """Return the size of the own memory of a stack's components."""
    records = [first_record(getattr(stack, role).own_fields, scope).dtype for role in HOST_ROLES]
    return sum(dtype.itemsize for dtype in records if dtype.names)


def bytes_of_a_flow(stack, segments):
    """Return the records of a flow with one subflow: a leaf and a third of a node of the timers' tree, its ring."""
    state = stack_state(stack)
    ring = ring_segments(segments, state.window_segments)
    of_subflow = SUBFLOW.itemsize + own_bytes(stack, "subflow") + NODE.itemsize * 4 / 3 + ring
    of_stream = (MAP_BYTES + FLAG_BYTES) * ring if state.shared else 0
    return FLOW.itemsize + own_bytes(stack, "flow") + of_subflow + of_stream


def test_a_short_flow_takes_at_most_0_8_kb(subtests):
    for name in ["ecmp", "rps", "dctcp", "sack"]:
        with subtests.test(name=name):
            assert bytes_of_a_flow(scheme(name).short, SHORT_SEGMENTS) <= 800


def test_an_mmptcp_flow_that_stays_in_phase_one_takes_at_most_1_5_kb():
    assert bytes_of_a_flow(scheme("mmptcp").short, PHASE_ONE_SEGMENTS) <= 1500
