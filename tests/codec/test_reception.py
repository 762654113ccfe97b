"""Drawing receptions: shares, paths, and agreement of the decodability test with real decoding."""

import numpy as np
import pytest
from codec_support import random_packets, rank_codes

from capsmodel import ParameterError
from capsmodel.codec import NotEnoughPackets, get_code
from capsmodel.codec.files import arrivals, arrivals_by_path, decodes, packets_needed


def test_certain_arrival_and_certain_loss():
    assert arrivals(5, blocking_prob=0, receptions=3, rng=1).all()
    assert not arrivals(5, blocking_prob=1, receptions=3, rng=1).any()


def test_packets_in_turn_lose_the_same_number_every_time():
    arrived = arrivals_by_path(40, n_paths=40, blocked_paths=7, in_turn=True, receptions=50, rng=2)
    assert (arrived.sum(axis=1) == 33).all()
    assert len({row.tobytes() for row in arrived}) == 50


def test_all_packets_of_a_blocked_path_are_lost():
    arrived = arrivals_by_path(12, n_paths=4, blocked_paths=1, in_turn=True, receptions=200, rng=3)
    assert (arrived.reshape(200, 3, 4) == arrived[:, None, :4]).all()


def test_random_paths_block_their_share():
    """10^5 packets: 4 standard errors are 0.004."""
    arrived = arrivals_by_path(100, n_paths=40, blocked_paths=4, receptions=1000, rng=4)
    assert abs(arrived.mean() - 0.9) < 0.004


@pytest.mark.parametrize("code", [get_code("rs")(6, r=5, packet_bytes=3), *rank_codes(6, 5, 3)], ids=repr)
def test_a_reception_decodes_when_decode_says_so(code):
    packets = code.coded(random_packets(6, 3, 1))
    arrived = arrivals(11, blocking_prob=0.4, receptions=300, rng=5)
    for row, claimed in zip(arrived, decodes(code, arrived), strict=True):
        numbers = np.flatnonzero(row)
        if claimed:
            assert np.array_equal(code.decode(packets[numbers], numbers), random_packets(6, 3, 1))
        else:
            with pytest.raises(NotEnoughPackets):
                code.decode(packets[numbers], numbers)


def test_any_k_packets_of_an_mds_code_are_enough_in_any_order():
    assert set(packets_needed(get_code("rs")(6, r=5, packet_bytes=1), receptions=200, rng=6)) == {6}


def test_packets_are_needed_until_those_in_front_decode():
    code, rng = get_code("ldpc")(20, r=10, packet_bytes=1), np.random.default_rng(7)
    orders = [rng.permutation(30) for _ in range(100)]
    needed = packets_needed(code, receptions=100, rng=7)
    for order, count in zip(orders, needed.tolist(), strict=True):
        front = np.zeros((2, 30), bool)
        front[0, order[: count - 1]] = front[1, order[:count]] = True
        assert decodes(code, front).tolist() == [False, True]


def test_bad_paths(subtests):
    cases = [
        ({"n_paths": 0, "blocked_paths": 0}, "n_paths = 0"),
        ({"n_paths": 4, "blocked_paths": 5}, "there are 4 paths"),
        ({"n_paths": 4, "blocked_paths": -1}, "blocked_paths = -1"),
    ]
    for arguments, told in cases:
        with subtests.test(arguments=arguments, told=told), pytest.raises(ParameterError, match=told):
            arrivals_by_path(5, receptions=1, **arguments)


def test_bad_receptions():
    with pytest.raises(ParameterError, match="receptions = 0"):
        arrivals(5, blocking_prob=0.1, receptions=0)
    with pytest.raises(ParameterError, match=r"blocking_prob = 1\.5"):
        arrivals(5, blocking_prob=1.5, receptions=1)
    with pytest.raises(ParameterError, match="the code sends 3"):
        decodes(get_code("rs")(2, r=1, packet_bytes=1), [[True, False]])
