"""DRILL's choice: the shortest of two sampled queues and of the one remembered for the destination."""

from types import SimpleNamespace

import pytest
from engine_setups import BUSY, differences, setup_of

from capsim.protocols.balancers.drill import DRILL

CANDIDATES = [4, 5, 6, 7]


def chosen(queues, u0, *, last=0, second_sample=True):
    """Return the choice among four ports with these queues, in bytes, and what is remembered then."""
    ports = {port: SimpleNamespace(queue_bytes=bytes_) for port, bytes_ in zip(CANDIDATES, queues, strict=True)}
    own = SimpleNamespace(towards=SimpleNamespace(last=last))
    params = SimpleNamespace(second_sample=second_sample)
    path = DRILL.choose(params, own, None, None, None, ports, CANDIDATES, 0, u0)
    return path, own.towards.last


def number(first, second):
    """Return the uniform number that samples these two candidates of four."""
    return (first + 4 * second + 0.5) / 16


@pytest.mark.parametrize(("queues", "expected"), [((9, 1, 5, 3), 1), ((9, 5, 1, 3), 2), ((9, 5, 5, 3), 1)])
def test_the_shorter_of_two_samples_is_taken(queues, expected):
    assert chosen(queues, number(1, 2))[0] == expected


def test_the_remembered_queue_is_taken_while_it_is_the_shortest():
    assert chosen((1, 5, 5, 3), number(1, 2), last=0) == (0, 0)
    assert chosen((6, 5, 4, 3), number(1, 2), last=0) == (2, 2)


def test_one_sample_is_compared_with_the_remembered_queue_only():
    assert chosen((9, 5, 1, 3), number(1, 2), last=0, second_sample=False)[0] == 1


def test_each_pair_of_samples_has_one_sixteenth_of_the_numbers():
    queues = (0, 1, 2, 3)  # the smaller index is the shorter queue
    found = [chosen(queues, (k + 0.5) / 16, last=3)[0] for k in range(16)]
    assert [found.count(path) for path in range(4)] == [7, 5, 3, 1]


@pytest.mark.parametrize("fabric", BUSY)
def test_engines_agree(fabric):
    kind, flows = BUSY[fabric]
    assert differences(setup_of(kind, flows, "drill")) == []
