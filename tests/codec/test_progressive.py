"""Progressive decoders: both reach the same matrix, deliver the same packets, and do the work the paper counts."""

import numpy as np
import pytest
from codec_support import random_packets
from hypothesis import given
from hypothesis import strategies as st

from capsmodel import ParameterError
from capsmodel.codec import NotEnoughPackets, PacketError
from capsmodel.codec.dc2 import GaussJordan, Preemptive
from capsmodel.codec.kernels.combiner import combine
from capsmodel.codec.linalg import rank

BOTH = [GaussJordan, Preemptive]
PACKET_BYTES = 5


def feed(decoder, arrival, source):
    """Give one arrival: an int is an original packet, an array the coefficients of a coded one."""
    if isinstance(arrival, int):
        decoder.add_original(arrival, source[arrival])
    else:
        decoder.add_coded(arrival, combine(arrival[None], source)[0])


@st.composite
def receptions(draw):
    """Draw a number of columns and arrivals: originals, and coded packets with some zero coefficients."""
    columns = draw(st.integers(1, 10))
    element = st.one_of(st.just(0), st.integers(1, 255))
    coded = st.lists(element, min_size=columns, max_size=columns).filter(any).map(lambda row: np.array(row, np.uint8))
    return columns, draw(st.lists(st.one_of(st.integers(0, columns - 1), coded), max_size=2 * columns))


@given(reception=receptions())
def test_both_know_what_the_rank_determines_after_every_packet(reception):
    columns, arrivals = reception
    source = random_packets(columns, PACKET_BYTES, 1)
    decoders = [algorithm(columns, packet_bytes=PACKET_BYTES) for algorithm in BOTH]
    rows = np.zeros((0, columns), np.uint8)
    identity = np.eye(columns, dtype=np.uint8)
    for arrival in arrivals:
        rows = np.vstack([rows, identity[arrival] if isinstance(arrival, int) else arrival])
        found = rank(rows)
        known = [rank(np.vstack([rows, unit])) == found for unit in identity]
        for decoder in decoders:
            feed(decoder, arrival, source)
            assert decoder.rank == found
            assert decoder.decoded.tolist() == known
            for column in np.flatnonzero(known):
                assert np.array_equal(decoder.packet(int(column)), source[column])


def work_of(algorithm, originals, coded, seed):
    """Return the work after all originals but `coded` of them, and as many dense coded packets, in random order."""
    columns = originals + coded
    rng = np.random.default_rng(seed)
    source = random_packets(columns, PACKET_BYTES, seed)
    lost = rng.choice(columns, coded, replace=False)
    arrivals = [int(column) for column in range(columns) if column not in lost]
    arrivals += list(rng.integers(1, 256, (coded, columns), dtype=np.uint8))
    decoder = algorithm(columns, packet_bytes=PACKET_BYTES)
    for at in rng.permutation(len(arrivals)):
        feed(decoder, arrivals[at], source)
    assert decoder.decoded.all()
    return decoder.work


def test_rows_examined_stay_within_the_papers_complexity(subtests):
    """Gauss-Jordan examines every row twice per arrival; preemption spares the m originals all rows but the l coded."""
    for m, l in [(20, 1), (60, 3), (120, 6), (120, 30)]:
        with subtests.test(m=m, l=l):
            gauss, preemptive = work_of(GaussJordan, m, l, seed=m), work_of(Preemptive, m, l, seed=m)
            assert (gauss.originals, gauss.coded) == (preemptive.originals, preemptive.coded) == (m, l)
            n = m + l
            assert gauss.rows_examined == n * (n - 1)
            pushed_out = l * l  # at worst each coded row is pushed out by every other's pivot and treated anew
            assert preemptive.rows_examined <= m * l + (l + pushed_out) * (n + l)
            assert preemptive.rows_examined < gauss.rows_examined
            assert preemptive.row_operations <= gauss.row_operations


def test_zero_factors_are_not_counted_as_row_operations():
    """Originals alone cost no row operation under either algorithm: their columns are nobody else's."""
    for algorithm in BOTH:
        work = work_of(algorithm, 30, 0, seed=1)
        assert work.row_operations == work.multiply_adds == 0


def test_original_takes_the_row_of_a_coded_packet_and_that_one_moves_on():
    source = random_packets(3, PACKET_BYTES, 2)
    decoder = Preemptive(3, packet_bytes=PACKET_BYTES)
    feed(decoder, np.array([1, 2, 3], np.uint8), source)
    feed(decoder, 0, source)
    assert decoder.decoded.tolist() == [True, False, False]
    assert decoder.work.row_operations == 2  # the pushed-out row loses column 0, then is scaled to a 1 in column 1
    feed(decoder, 2, source)
    assert decoder.decoded.all()


@pytest.mark.parametrize("algorithm", BOTH)
def test_repeated_and_dependent_packets_change_nothing(algorithm):
    source = random_packets(2, PACKET_BYTES, 3)
    decoder = algorithm(2, packet_bytes=PACKET_BYTES)
    for arrival in (0, 0, np.array([3, 0], np.uint8), 1, 1, np.array([5, 9], np.uint8)):
        feed(decoder, arrival, source)
    assert decoder.rank == 2
    assert np.array_equal(decoder.packet(1), source[1])


@pytest.mark.parametrize("algorithm", BOTH)
def test_contradictions_are_told(algorithm):
    source = random_packets(2, PACKET_BYTES, 4)
    decoder = algorithm(2, packet_bytes=PACKET_BYTES)
    feed(decoder, 0, source)
    with pytest.raises(PacketError, match="damaged"):
        decoder.add_original(0, source[0] ^ 1)
    with pytest.raises(PacketError, match="contradicts"):
        decoder.add_coded(np.array([2, 0], np.uint8), source[0])


@pytest.mark.parametrize("algorithm", BOTH)
def test_forgotten_column_serves_another_packet(algorithm):
    decoder = algorithm(1, packet_bytes=PACKET_BYTES)
    for packet in random_packets(4, PACKET_BYTES, 5):
        decoder.add_original(0, packet)
        assert np.array_equal(decoder.packet(0), packet)
        decoder.forget(0)
        with pytest.raises(NotEnoughPackets):
            decoder.forget(0)


def test_bad_input_names_the_rule():
    decoder = Preemptive(3, packet_bytes=PACKET_BYTES)
    good = np.zeros(PACKET_BYTES, np.uint8)
    with pytest.raises(PacketError, match="all coefficients are 0"):
        decoder.add_coded(np.zeros(3, np.uint8), good)
    with pytest.raises(PacketError, match=r"shape \(3,\) is expected"):
        decoder.add_coded(np.ones(2, np.uint8), good)
    with pytest.raises(PacketError, match="packets 0 to 2"):
        decoder.add_original(3, good)
    with pytest.raises(PacketError, match=r"shape \(5,\) is expected"):
        decoder.add_original(0, good[:4])
    with pytest.raises(NotEnoughPackets):
        decoder.packet(0)
    with pytest.raises(ParameterError, match="columns = 0"):
        Preemptive(0, packet_bytes=1)
