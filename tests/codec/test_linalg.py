"""Identity: rank and inverse over GF(2^8), also those of galois; the recovery matrix against an explicit inverse."""

import numpy as np
import pytest
from codec_support import galois_field

from capsmodel.codec import CodecError
from capsmodel.codec.kernels.combiner import combine
from capsmodel.codec.linalg import inverse, rank
from capsmodel.codec.reed_solomon import CONVENTIONS, ReedSolomon


def invertible(size):
    """Return a matrix whose first pivot is found below the diagonal, where it has two rows."""
    matrix = np.random.default_rng(size).integers(0, 256, (size, size), dtype=np.uint8)
    matrix[0, 0] = 7 if size == 1 else 0
    return matrix


SIZES = [1, 2, 3, 8, 16, 33]


def test_a_matrix_times_its_inverse_is_the_identity():
    for size in SIZES:
        matrix = invertible(size)
        np.testing.assert_array_equal(combine(inverse(matrix), matrix), np.eye(size, dtype=np.uint8))
        np.testing.assert_array_equal(combine(matrix, inverse(matrix)), np.eye(size, dtype=np.uint8))


@pytest.mark.agreement
@pytest.mark.parametrize("size", SIZES)
def test_inverse_equals_that_of_galois(size):
    matrix = invertible(size)
    np.testing.assert_array_equal(inverse(matrix), np.linalg.inv(galois_field()(matrix)))


def test_rank_of_a_product_of_full_rank_factors(subtests):
    for rows, columns, true_rank in [(1, 1, 0), (4, 6, 2), (6, 4, 3), (9, 9, 8), (5, 5, 5)]:
        with subtests.test(rows=rows, columns=columns, true_rank=true_rank):
            rng = np.random.default_rng(rows)
            left, right = (np.zeros(shape, np.uint8) for shape in ((rows, true_rank), (true_rank, columns)))
            left[:], right[:] = rng.integers(0, 256, left.shape), rng.integers(0, 256, right.shape)
            left[:true_rank], right[:, :true_rank] = np.eye(true_rank), np.eye(true_rank)
            assert rank(combine(left, right)) == true_rank


def test_rank_and_inverse_leave_their_argument_alone():
    matrix = np.array([[0, 1], [2, 3]], np.uint8)
    inverse(matrix)
    rank(matrix)
    assert matrix.tolist() == [[0, 1], [2, 3]]


def test_singular_and_oblong_matrices_are_refused():
    with pytest.raises(CodecError, match="size 2 has rank 1"):
        inverse(np.array([[1, 2], [2, 4]], np.uint8))
    with pytest.raises(CodecError, match=r"shape \(2, 3\) has no inverse"):
        inverse(np.ones((2, 3), np.uint8))
    with pytest.raises(CodecError, match="the matrix is float64"):
        rank(np.ones((2, 3)))


def test_decoding_equals_inversion_of_the_received_rows_of_the_generator(subtests):
    for k, r in [(1, 1), (5, 3), (20, 12), (3, 40)]:
        for convention in CONVENTIONS:
            with subtests.test(k=k, r=r, convention=convention):
                rng = np.random.default_rng(k)
                code = ReedSolomon(k, r=r, packet_bytes=31, convention=convention)
                generator = np.vstack([np.eye(k, dtype=np.uint8), code.parity_matrix])
                for _ in range(20):
                    ids = rng.permutation(k + r)[:k]
                    received = rng.integers(0, 256, (k, 31), dtype=np.uint8)
                    np.testing.assert_array_equal(
                        code.decode(received, ids), combine(inverse(generator[ids]), received)
                    )
