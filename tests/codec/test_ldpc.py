"""LDPC-Staircase against the RFC's vectors, a second decoder written from its text, and random receptions."""

import numpy as np
import pytest
from codec_support import random_packets, sha256, source_packets, vectors
from hypothesis import given
from hypothesis import strategies as st

from capsmodel import ParameterError
from capsmodel.codec import NotEnoughPackets
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.ldpc_matrix import check_matrix, next_state

LDPC = vectors("ldpc_rfc5170")


def rows_of(matrix):
    bounds = zip(matrix.row_start, matrix.row_start[1:], strict=False)
    return [matrix.row_symbols[first:last].tolist() for first, last in bounds]


def matrix_of(case):
    return check_matrix(case["k"], r=case["r"], n1=case["N1"], seed=case["seed"])


def code_of(case, packet_bytes):
    return LdpcStaircase(case["k"], r=case["r"], packet_bytes=packet_bytes, n1=case["N1"], seed=case["seed"])


def named(case):
    return f"{case['k']}+{case['r']}-N1-{case['N1']}"


def peeled(rows, known):
    """Return all symbols that peeling finds: any row with one unknown gives it."""
    known = set(known)
    while True:
        found = {next(iter(set(row) - known)) for row in rows if len(set(row) - known) == 1}
        if not found:
            return known
        known |= found


def solved(rows, known, k):
    """Say whether the sources are determined: each unknown one is a GF(2) combination of the rows' unknown parts."""
    unknown = sorted(set(range(max(map(max, rows)) + 1)) - set(known))
    place = {symbol: 1 << i for i, symbol in enumerate(unknown)}
    basis = []
    for row in rows:
        vector = sum(place.get(symbol, 0) for symbol in row)
        for other in basis:
            vector = min(vector, vector ^ other)
        if vector:
            basis = [min(other, other ^ vector) if other ^ vector < other else other for other in basis] + [vector]
    for symbol in unknown:
        if symbol < k:
            left = place[symbol]
            for other in sorted(basis, reverse=True):
                left = min(left, left ^ other)
            if left:
                return False
    return True


def test_generator_of_the_rfc():
    states = [1]
    for _ in range(10_000):
        states.append(next_state(states[-1]))
    assert states[1:11] == LDPC["prng_seed1_first10_raw"]
    assert states[-3:] == LDPC["prng_seed1_9998_to_10000"]
    assert states[-1] == LDPC["prng_validation_10000th_from_seed_1"]


def test_scaled_draws(subtests):
    for case in LDPC["prng_scaled_examples"]:
        with subtests.test(case=case):
            state, values = case["seed"], []
            for _ in case["values"]:
                state = next_state(state)
                values.append(state * case["maxv"] // (2**31 - 1))
            assert values == case["values"]


def test_matrix_and_repair_packets(subtests):
    for case in LDPC["vectors"]:
        with subtests.test(case=case):
            matrix = matrix_of(case)
            assert rows_of(matrix) == case["rows_esi"]
            assert matrix.extra_ones == case["extra_entries_added"]
            repair = code_of(case, 24).encode(source_packets(case["k"], 24))
            assert [packet.tobytes().hex() for packet in repair] == case["L24_repair_hex"]
            long = code_of(case, 1500).encode(source_packets(case["k"], 1500))
            assert sha256(long) == case["L1500_repair_concat_sha256"]


def test_matrix_and_repair_packets_by_hash(subtests):
    for case in LDPC["hash_cases"]:
        with subtests.test(case=case):
            text = "".join(" ".join(map(str, row)) + "\n" for row in rows_of(matrix_of(case)))
            assert sha256(np.frombuffer(text.encode(), np.uint8)) == case["matrix_sha256"]
            repair = code_of(case, 24).encode(source_packets(case["k"], 24))
            assert sha256(repair) == case["L24_repair_concat_sha256"]


@given(data=st.data())
def test_packets_needed_are_those_of_a_second_decoder(data):
    n1 = data.draw(st.integers(3, 10))
    k, r = data.draw(st.integers(1, 24)), data.draw(st.integers(n1, n1 + 12))
    code = LdpcStaircase(k, r=r, packet_bytes=1, n1=n1, seed=data.draw(st.integers(1, 2**31 - 2)))
    order = data.draw(st.permutations(range(k + r)))
    needed = code.packets_needed(order)
    rows = rows_of(code.matrix)
    sources = set(range(k))
    by_peeling = next(m for m in range(k, k + r + 1) if sources <= peeled(rows, order[:m]))
    by_elimination = next(m for m in range(k, k + r + 1) if solved(rows, order[:m], k))
    assert (int(needed.peeling), int(needed.elimination)) == (by_peeling, by_elimination)


@given(data=st.data())
def test_decodes_with_exactly_the_packets_needed(data):
    n1 = data.draw(st.integers(3, 10))
    k, r = data.draw(st.integers(1, 60)), data.draw(st.integers(n1, n1 + 30))
    packet_bytes = data.draw(st.integers(1, 40))
    code = LdpcStaircase(k, r=r, packet_bytes=packet_bytes, n1=n1, seed=data.draw(st.integers(1, 2**31 - 2)))
    source = random_packets(k, packet_bytes, 1)
    packets = code.coded(source)
    order = np.array(data.draw(st.permutations(range(k + r))))
    needed = int(code.packets_needed(order).elimination)
    decoder = code.decoder()
    complete = [decoder.add(int(number), packets[number]) for number in order[:needed]]
    assert complete == [False] * (needed - 1) + [True]
    assert np.array_equal(decoder.source(), source)
    assert np.array_equal(code.decode(packets[order[:needed]], order[:needed]), source)
    if needed > 1:
        few = order[: needed - 1]
        with pytest.raises(NotEnoughPackets):
            code.decode(packets[few], few)


def test_tiles_join_without_a_seam(subtests):
    for packet_bytes in [1, 4095, 4096, 4097, 65536]:
        with subtests.test(packet_bytes=packet_bytes):
            code = LdpcStaircase(20, r=9, packet_bytes=packet_bytes, n1=5, seed=2)
            source = random_packets(20, packet_bytes, 3)
            repair = np.zeros((9, packet_bytes), np.uint8)
            for i, row in enumerate(rows_of(code.matrix)):
                repair[i] = np.bitwise_xor.reduce(source[[symbol for symbol in row if symbol < 20]], axis=0)
                repair[i] ^= repair[i - 1] if i else 0
            assert np.array_equal(code.encode(source), repair)
            kept = np.r_[4:29]
            assert np.array_equal(code.decode(code.coded(source)[kept], kept), source)


def test_even_n1_leaves_the_last_repair_packet_zero():
    code = LdpcStaircase(32, r=20, packet_bytes=8, n1=6, seed=1287285678)
    assert code.matrix.extra_ones == 0
    repair = code.encode(random_packets(32, 8, 1))
    assert not repair[-1].any()
    assert repair[:-1].any(axis=1).all()


def test_n1_equal_to_r_repairs_one_loss():
    code = LdpcStaircase(10, r=3, packet_bytes=4, n1=3)
    packets = code.coded(random_packets(10, 4, 1))
    for lost in range(10):
        kept = np.delete(np.arange(13), lost)
        assert np.array_equal(code.decode(packets[kept], kept), packets[:10])
    with pytest.raises(NotEnoughPackets):
        code.decode(packets[2:], np.arange(2, 13))


def test_codes_that_do_not_exist(subtests):
    cases = [
        ({"r": 4, "n1": 5}, "n1 = 5 ones do not fit a column of r = 4 rows"),
        ({"r": 2}, "n1 = 3 ones do not fit"),
        ({"r": 20, "n1": 2}, "n1 = 2"),
        ({"r": 20, "n1": 11}, "choose 3 to 10"),
        ({"r": 20, "seed": 0}, "seed = 0"),
        ({"r": 20, "seed": 2**31 - 1}, "2\\*\\*31 - 2"),
        ({"r": 65530}, "at most 65535"),
    ]
    for arguments, told in cases:
        with subtests.test(arguments=arguments, told=told), pytest.raises(ParameterError, match=told):
            LdpcStaircase(10, packet_bytes=1, **arguments)


def test_arrivals_must_be_permutations():
    with pytest.raises(ParameterError, match="permutation"):
        LdpcStaircase(3, r=3, packet_bytes=1).packets_needed([0, 1, 2, 3, 4, 4])
