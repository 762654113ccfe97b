"""RFC 2018 by hand and by a model of sets: the blocks that a receiver reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted import Receiver, runs_above

from capsim.protocols.transports.sack import SackParams
from capsmodel.checks import ParameterError


@given(st.permutations([*range(10), *range(10)]))  # each segment comes twice
def test_blocks_are_the_runs_reported_last(arrivals):
    """Each block is a whole run above the acknowledgement, the one of the segment that came first, the rest by age."""
    receiver, came = Receiver("sack", n_segments=20), {}
    for time, segment in enumerate(arrivals):
        packet = receiver.take(segment)
        came[segment] = time
        ack = next(number for number in range(20) if number not in came)
        runs = runs_above(came, ack)
        runs.sort(key=lambda run: -max(came[number] for number in range(*run)))
        blocks = receiver.blocks(packet)
        assert packet.ack == ack
        assert blocks == [run for run in runs if run in blocks]
        assert segment < ack or blocks[0] == runs[0]


def test_blocks_by_hand():
    """0, 1 in order; 3, 5, 7, 9 are runs of one: three fit, the latest first. 4 joins 3 and 5."""
    receiver = Receiver("sack")
    answers = [receiver.take(segment) for segment in (0, 1, 3, 5, 4, 7, 9)]
    assert [answer.ack for answer in answers] == [1, 2, 2, 2, 2, 2, 2]
    assert [receiver.blocks(answer) for answer in answers] == [
        [],
        [],
        [(3, 4)],
        [(5, 6), (3, 4)],
        [(3, 6)],
        [(7, 8), (3, 6)],
        [(9, 10), (7, 8), (3, 6)],
    ]


def test_four_blocks_without_time_stamps():
    """RFC 2018, section 3: 2 + 4 * 8 bytes and padding; the oldest gives way to a fifth."""
    receiver = Receiver("sack", sack_blocks=4)
    answers = [receiver.take(segment) for segment in (1, 3, 5, 7, 9)]
    assert receiver.blocks(answers[3]) == [(7, 8), (5, 6), (3, 4), (1, 2)]
    assert receiver.blocks(answers[4]) == [(9, 10), (7, 8), (5, 6), (3, 4)]
    assert [answer.bytes for answer in answers] == [52, 60, 68, 76, 76]


def test_what_is_acknowledged_is_no_block():
    receiver = Receiver("sack")
    answers = [receiver.take(segment) for segment in (3, 0, 1, 2, 4)]
    assert [answer.ack for answer in answers] == [0, 1, 2, 4, 5]
    assert [receiver.blocks(answer) for answer in answers] == [[(3, 4)], [(3, 4)], [(3, 4)], [], []]


def test_without_time_stamps_four_blocks_fit():
    """An in-order segment, 0, adds no block, and the four stay."""
    receiver = Receiver("sack", sack_blocks=4)
    answers = [receiver.take(segment) for segment in (2, 4, 6, 8, 10, 0)]
    assert [answer.bytes for answer in answers] == [52, 60, 68, 76, 76, 76]
    assert receiver.blocks(answers[4]) == receiver.blocks(answers[5]) == [(10, 11), (8, 9), (6, 7), (4, 5)]


@pytest.mark.parametrize("blocks", [0, 5])
def test_more_blocks_than_fit_are_refused(blocks):
    with pytest.raises(ParameterError, match="sack_blocks"):
        SackParams(sack_blocks=blocks)


def test_bytes_of_an_acknowledgement_with_blocks():
    """40, and 4 for the option, 8 for each block."""
    receiver = Receiver("sack")
    assert [receiver.take(segment).bytes for segment in (0, 2, 4, 6, 8)] == [40, 52, 60, 68, 68]
