"""Published vectors: TinyMT32 (RFC 8682) and the coding coefficients drawn from it (RFC 8681)."""

import numpy as np
import pytest
from codec_support import sha256, source_packets, vectors

from capsmodel import ParameterError
from capsmodel.codec.kernels.combiner import combine
from capsmodel.codec.rlnc import TinyMT32, coefficients

TINYMT = vectors("tinymt32_rfc8682")
RLC = vectors("rlc_rfc8681")


def test_outputs_from_seed_1():
    generator = TinyMT32(1)
    outputs = [generator.next_uint32() for _ in range(10_000)]
    assert outputs[:50] == TINYMT["seed1_first50"]
    assert outputs[-1] == TINYMT["seed1_10000th"]


def test_outputs_from_other_seeds(subtests):
    for case in TINYMT["other_seeds"]:
        with subtests.test(case=case):
            generator = TinyMT32(case["seed"])
            assert [generator.next_uint32() for _ in case["first12"]] == case["first12"]


def test_reduced_outputs():
    small, large = TinyMT32(1), TinyMT32(1)
    assert [small.next_below_16() for _ in range(50)] == TINYMT["seed1_first50_rand16"]
    assert [large.next_below_256() for _ in range(50)] == TINYMT["seed1_first50_rand256"]


@pytest.mark.parametrize("case", RLC["vectors"], ids=lambda case: f"m{case['m']}-dt{case['dt']}")
def test_coefficients_and_repair_packet(case):
    window = case["window_symbols"]
    row = coefficients(case["repair_key"], count=window, density=case["dt"], binary=case["m"] == 1)
    assert row.tobytes().hex() == case["coefficients_hex"]
    assert combine(row[None], source_packets(window, 24)).tobytes().hex() == case["L24_repair_hex"]


@pytest.mark.parametrize("case", RLC["hash_cases"], ids=lambda case: f"dt{case['dt']}")
def test_many_keys_at_once(case):
    rows = coefficients(np.arange(512), count=case["window_symbols"], density=case["dt"], binary=True)
    assert sha256(rows) == case["coefficients_concat_sha256"]


def test_density_is_the_share_of_non_zero_coefficients(subtests):
    """2^19 draws: a share off by 0.003 would stand out by 4 standard errors at least."""
    for density in [0, 3, 7, 14, 15]:
        for binary in [False, True]:
            with subtests.test(density=density, binary=binary):
                share = (
                    np.count_nonzero(coefficients(np.arange(8192), count=64, density=density, binary=binary)) / 2**19
                )
                expected = (density + 1) / 16
                assert abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / 2**19)


def test_bad_arguments(subtests):
    cases = [
        ({"repair_keys": 65536, "count": 4}, "16 bits"),
        ({"repair_keys": 1.5, "count": 4}, "repair_keys = 1.5"),
        ({"repair_keys": 1, "count": 0}, "count = 0"),
        ({"repair_keys": 1, "count": 4, "density": 16}, "density = 16"),
    ]
    for arguments, told in cases:
        with subtests.test(arguments=arguments, told=told), pytest.raises(ParameterError, match=told):
            coefficients(arguments.pop("repair_keys"), **arguments)


def test_seed_of_more_than_32_bits():
    with pytest.raises(ParameterError, match="32 bits"):
        TinyMT32(2**32)
