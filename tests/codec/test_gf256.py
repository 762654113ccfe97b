"""Identity: the tables are the field GF(2^8) modulo 0x11d, and `combine` is the matrix product over it."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from codec_support import galois_field

from capsmodel.codec import CodecError
from capsmodel.codec.gf256 import EXP, INV, LOG, MUL, POLYNOMIAL, inv, mul
from capsmodel.codec.kernels.combiner import Combiner, combine
from capsmodel.codec.kernels.vector import BIT_MATRICES

VECTORS = json.loads((Path(__file__).parent / "vectors" / "gf256_0x11d.json").read_text())
ALL = np.arange(256, dtype=np.uint8)


def polynomial_product(a: int, b: int) -> int:
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= POLYNOMIAL << bit - 8
    return product


def digest(values: np.ndarray) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()


def test_products_are_those_of_polynomials():
    expected = [[polynomial_product(a, b) for b in range(256)] for a in range(256)]
    np.testing.assert_array_equal(MUL, expected)


def test_field_axioms_hold_for_every_pair_and_sampled_triples():
    a, b = ALL[:, None], ALL[None, :]
    np.testing.assert_array_equal(mul(a, b), mul(b, a))
    np.testing.assert_array_equal(mul(1, ALL), ALL)
    np.testing.assert_array_equal(mul(ALL[1:], inv(ALL[1:])), 1)
    for c in (2, 29, 142, 255):
        np.testing.assert_array_equal(mul(mul(a, b), c), mul(a, mul(b, c)))
        np.testing.assert_array_equal(mul(a ^ b, c), mul(a, c) ^ mul(b, c))


def test_logarithm_and_power_are_inverse_and_two_generates_the_field():
    np.testing.assert_array_equal(EXP[LOG[1:]], ALL[1:])
    assert len(set(EXP[:255].tolist())) == 255
    np.testing.assert_array_equal(EXP[255:], EXP[:255])


def test_tables_equal_the_vectors_of_other_implementations():
    assert digest(MUL) == VECTORS["mul_table_sha256"]
    assert digest(EXP[:255]) == VECTORS["exp_255_sha256"]
    assert digest(LOG) == VECTORS["log_256_sha256_with_log0_as_0"]
    assert digest(INV) == VECTORS["inv_256_sha256_with_inv0_as_0"]
    for a, b, product in VECTORS["product_samples_a_b_ab"]:
        assert mul(a, b) == product


def test_bit_matrices_equal_the_vectors():
    assert digest(BIT_MATRICES.astype("<u8")) == VECTORS["gf2p8affineqb_256_words_le_sha256"]
    for constant, word in VECTORS["gf2p8affineqb_samples_c_word"]:
        assert int(BIT_MATRICES[constant, 0]) == int(word, 16)


def factors():
    """Yield matrices of coefficients, and packets that fit."""
    rng = np.random.default_rng(4)
    for rows, m, packet_bytes in [(1, 1, 1), (3, 5, 17), (7, 30, 300)]:
        yield rng.integers(0, 256, (rows, m), dtype=np.uint8), rng.integers(0, 256, (m, packet_bytes), dtype=np.uint8)


def test_combine_is_the_matrix_product():
    for coefficients, packets in factors():
        products = MUL[coefficients[:, :, np.newaxis], packets]
        np.testing.assert_array_equal(combine(coefficients, packets), np.bitwise_xor.reduce(products, axis=1))


@pytest.mark.agreement
def test_combine_equals_the_matrix_product_of_galois():
    field = galois_field()
    for coefficients, packets in factors():
        np.testing.assert_array_equal(combine(coefficients, packets), field(coefficients) @ field(packets))


def test_zero_has_no_inverse():
    with pytest.raises(ZeroDivisionError, match="0 has no inverse"):
        inv([3, 0])


def test_combine_without_packets_or_rows_gives_zeros_or_nothing():
    assert not combine(np.empty((2, 0), np.uint8), np.empty((0, 300), np.uint8)).any()
    assert combine(np.empty((0, 2), np.uint8), np.ones((2, 300), np.uint8)).shape == (0, 300)
    assert combine(np.ones((2, 2), np.uint8), np.empty((2, 0), np.uint8)).shape == (2, 0)


def test_wrong_arrays_are_refused_with_their_type_and_shape(subtests):
    cases = [
        (np.zeros((3, 300), np.uint8), None, r"uint8 of shape \(3, 300\), but uint8 of shape \(2, bytes\)"),
        (np.zeros((2, 300)), None, "the packets are float64"),
        (b"ab", None, "the packets are a bytes"),
        (np.zeros((2, 300), np.uint8), np.zeros((1, 299), np.uint8), "the output is uint8 of shape"),
        (np.zeros((2, 300), np.uint8), np.zeros((300, 1), np.uint8).T[:, ::-1], "bytes of each row contiguous"),
    ]
    for packets, out, text in cases:
        with subtests.test(packets=packets, out=out, text=text), pytest.raises(CodecError, match=text):
            Combiner(np.ones((1, 2), np.uint8))(packets, out)


def test_output_that_overlaps_the_packets_is_refused():
    packets = np.zeros((3, 300), np.uint8)
    with pytest.raises(CodecError, match="shares memory"):
        Combiner(np.ones((1, 2), np.uint8))(packets[:2], packets[1:2])


def test_coefficients_of_another_type_are_refused():
    with pytest.raises(CodecError, match="the coefficients are int64"):
        Combiner(np.ones((1, 2), np.int64))
