"""Random linear code: decodes exactly when the rank is k, and says how much rank is missing."""

import numpy as np
import pytest
from codec_support import random_packets, rank_codes, source_packets, vectors
from hypothesis import given
from hypothesis import strategies as st

from capsmodel import ParameterError
from capsmodel.codec import NotEnoughPackets, PacketError
from capsmodel.codec.kernels.combiner import combine
from capsmodel.codec.linalg import rank
from capsmodel.codec.rlnc import RandomLinear, coefficients


def test_repair_packet_of_the_rfcs_vector():
    (case,) = [case for case in vectors("rlc_rfc8681")["vectors"] if case["m"] == 8 and case["dt"] == 15]
    code = RandomLinear(16, r=1, packet_bytes=24, seed=case["repair_key"] - 16 + 2**16)
    assert code.encode(source_packets(16, 24)).tobytes().hex() == case["L24_repair_hex"]


@pytest.mark.parametrize("systematic", [True, False])
def test_each_packet_has_the_coefficients_of_its_key(systematic):
    code = RandomLinear(6, r=5, packet_bytes=9, seed=65530, systematic=systematic)
    source = random_packets(6, 9, 4)
    rows = coefficients((65530 + np.arange(11)) % 65536, count=6)
    expected = combine(rows, source)
    packets = code.coded(source)
    assert np.array_equal(packets[6:], expected[6:])
    assert np.array_equal(code.encode(source), expected[6:])
    assert np.array_equal(packets[:6], source if systematic else expected[:6])


@given(data=st.data())
def test_any_reception_of_full_rank_decodes_and_no_other(data):
    k, r = data.draw(st.integers(1, 20)), data.draw(st.integers(0, 12))
    packet_bytes = data.draw(st.integers(1, 40))
    code = RandomLinear(
        k,
        r=r,
        packet_bytes=packet_bytes,
        seed=data.draw(st.integers(0, 65535)),
        systematic=data.draw(st.booleans()),
        density=data.draw(st.integers(1, 15)),
    )
    source = random_packets(k, packet_bytes, 2)
    packets = code.coded(source)
    numbers = np.array(data.draw(st.lists(st.integers(0, k + r - 1), unique=True)), np.int64)
    found = rank(code.coefficients[numbers]) if numbers.size else 0
    decoder = code.decoder()
    for number in numbers:
        decoder.add(int(number), packets[number])
    assert (decoder.rank, decoder.missing) == (found, k - found)
    if found == k:
        assert np.array_equal(decoder.source(), source)
        assert np.array_equal(code.decode(packets[numbers], numbers), source)
    else:
        with pytest.raises(NotEnoughPackets) as short:
            code.decode(packets[numbers].reshape(-1, packet_bytes), numbers)
        assert short.value.missing == k - found


def test_dependent_packet_adds_nothing():
    """Two random packets are dependent for one seed in 255; the third one then completes the unit."""
    codes = (RandomLinear(2, r=3, packet_bytes=4, seed=seed) for seed in range(4000))
    code = next(code for code in codes if rank(code.coefficients[2:4]) == 1 and rank(code.coefficients[3:5]) == 2)
    source = random_packets(2, 4, 1)
    packets = code.coded(source)
    decoder = code.decoder()
    assert [decoder.add(number, packets[number]) for number in (2, 3, 4)] == [False, False, True]
    assert np.array_equal(decoder.source(), source)
    with pytest.raises(NotEnoughPackets, match="2 packets received for k = 2: at least 1 more packet is needed"):
        code.decode(packets[2:4], [2, 3])


def test_repeated_packets_in_one_reception_are_compared(subtests):
    for code in rank_codes(12, 6, 30):
        with subtests.test(code=code):
            source = random_packets(12, 30, 5)
            packets = code.coded(source)
            twice = np.r_[np.arange(18), 3, 3]
            assert np.array_equal(code.decode(packets[twice], twice), source)
            damaged = packets[3:4] ^ 1
            with pytest.raises(PacketError, match="packet 3 was received before with other bytes"):
                code.decode(np.vstack([packets[:10], damaged]), np.r_[np.arange(10), 3])


def test_codes_that_do_not_exist(subtests):
    cases = [
        ({"r": 4, "seed": 65536}, "16 bits"),
        ({"r": 65530}, "65536 repair keys"),
        ({"r": 4, "density": 16}, "density = 16"),
        ({"r": -1}, "r = -1"),
    ]
    for arguments, told in cases:
        with subtests.test(arguments=arguments, told=told), pytest.raises(ParameterError, match=told):
            RandomLinear(10, packet_bytes=1, **arguments)


def test_too_many_coefficients():
    with pytest.raises(ParameterError, match="smaller coding units"):
        RandomLinear(9000, r=1000, packet_bytes=1)
