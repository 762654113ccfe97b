"""Reed-Solomon: the bytes of other programs, any k of n, errors that say what is wrong."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.codec import CODES, CodecError, NotEnoughPackets, PacketError, get_code
from capsmodel.codec.reed_solomon import CONVENTIONS, ReedSolomon

RECORDED = json.loads((Path(__file__).parent / "vectors" / "rs_vectors.json").read_text())
PREFIXES = {"cauchy 1/": "cauchy", "zfec": "zfec", "RFC5510": "rfc5510", "backblaze": "backblaze"}
CASES = [
    (vector, name)
    for vector in RECORDED["vectors"]
    for prefix, name in PREFIXES.items()
    if vector["convention"].startswith(prefix)
]


def sample(k: int, packet_bytes: int) -> np.ndarray:
    return ((7 * np.arange(k)[:, None] + 13 * np.arange(packet_bytes)) % 256).astype(np.uint8)


def random_packets(k: int, packet_bytes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (k, packet_bytes), dtype=np.uint8)


def test_all_vectors_of_the_four_conventions_are_used():
    assert len(CASES) == 8


def test_vectors(subtests):
    for vector, convention in CASES:
        k, r = vector["k"], vector["r"]
        with subtests.test(convention=convention, k=k, r=r):
            for packet_bytes in (40, 1500):
                code = ReedSolomon(k, r=r, packet_bytes=packet_bytes, convention=convention)
                repair = code.encode(sample(k, packet_bytes))
                if packet_bytes == 40:
                    assert [row.tobytes().hex() for row in repair] == vector["L40_repair_hex"]
                else:
                    assert hashlib.sha256(repair.tobytes()).hexdigest() == vector["L1500_repair_concat_sha256"]
            assert [row.tobytes().hex() for row in code.parity_matrix] == vector["parity_matrix_hex"]


def test_the_repair_packets_are_those_of_zfec(subtests):
    for unit in RECORDED["zfec_1_6_0_0"]:
        with subtests.test(unit=unit):
            code = ReedSolomon(unit["k"], r=unit["r"], packet_bytes=500, convention="zfec")
            repair = code.encode(sample(unit["k"], 500))
            assert hashlib.sha256(repair.tobytes()).hexdigest() == unit["L500_repair_concat_sha256"]


@settings(max_examples=150)
@given(st.data())
def test_any_k_of_n_packets_give_exactly_the_source(data):
    k, r = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 30))
    packet_bytes = data.draw(st.integers(1, 300))
    convention = data.draw(st.sampled_from(list(CONVENTIONS)))
    ids = data.draw(st.permutations(range(k + r)))[:k]
    source = random_packets(k, packet_bytes, data.draw(st.integers(0, 2**32)))
    code = ReedSolomon(k, r=r, packet_bytes=packet_bytes, convention=convention)
    coded = np.vstack([source, code.encode(source)])
    np.testing.assert_array_equal(code.decode(coded[ids], ids), source)
    decoder = code.decoder()
    assert [decoder.add(i, coded[i]) for i in ids] == [False] * (k - 1) + [True]
    np.testing.assert_array_equal(decoder.source(), source)


def test_largest_units_decode(subtests):
    for k, r in [(1, 254), (128, 127), (254, 1)]:
        for convention in CONVENTIONS:
            with subtests.test(k=k, r=r, convention=convention):
                source = random_packets(k, 20)
                code = ReedSolomon(k, r=r, packet_bytes=20, convention=convention)
                coded = np.vstack([source, code.encode(source)])
                for seed in range(5):
                    ids = np.random.default_rng(seed).permutation(k + r)[:k]
                    np.testing.assert_array_equal(code.decode(coded[ids], ids), source)


def test_surplus_and_repeated_packets_are_ignored():
    source = random_packets(6, 50)
    code = ReedSolomon(6, r=4, packet_bytes=50)
    coded = np.vstack([source, code.encode(source)])
    np.testing.assert_array_equal(code.decode(coded[::-1], range(9, -1, -1)), source)
    ids = [9, 9, 1, 2, 2, 3, 4, 5]
    np.testing.assert_array_equal(code.decode(coded[ids], ids), source)


def test_ids_and_packets_of_any_layout_decode():
    source = random_packets(6, 300)
    code = ReedSolomon(6, r=4, packet_bytes=300)
    coded = np.vstack([source, code.encode(source)])
    ids = np.arange(10, dtype=np.uint16)
    for chosen in (slice(None, None, -1), slice(4, None), slice(9, 3, -1)):
        np.testing.assert_array_equal(code.decode(coded[chosen], ids[chosen]), source)
        np.testing.assert_array_equal(code.decode(np.asfortranarray(coded)[chosen], ids.astype(int)[chosen]), source)


def test_too_few_packets_say_how_many_are_missing():
    code = ReedSolomon(6, r=4, packet_bytes=5)
    packets = random_packets(6, 5)
    with pytest.raises(
        NotEnoughPackets, match="4 packets received for k = 6: at least 2 more packets are needed"
    ) as few:
        code.decode(packets[[0, 1, 2, 3, 3]], [0, 1, 2, 3, 3])
    assert few.value.missing == 2
    with pytest.raises(NotEnoughPackets, match="at least 6 more"):
        code.decode(packets[:0], [])


def test_packets_of_one_number_that_differ_are_refused():
    code = ReedSolomon(2, r=2, packet_bytes=5)
    packets = random_packets(3, 5)
    with pytest.raises(PacketError, match="packet 1 was received before with other bytes"):
        code.decode(packets, [1, 2, 1])
    decoder = code.decoder()
    decoder.add(0, packets[0])
    with pytest.raises(PacketError, match="packet 0 was received before"):
        decoder.add(0, packets[1])
    assert decoder.missing == 1


def test_malformed_packets_are_refused(subtests):
    cases = [
        (np.zeros((2, 4), np.uint8), [0, 1], r"uint8 of shape \(2, 4\), but uint8 of shape \(m, 5\)"),
        (np.zeros((2, 5), np.int8), [0, 1], "int8 of shape"),
        ([b"12345"], [0], "the received packets are a list"),
        (np.zeros((2, 5), np.uint8), [0], "give one number for each packet"),
        (np.zeros((2, 5), np.uint8), [0, 4], "packet number 4, but this code has the packets 0 to 3"),
        (np.zeros((2, 5), np.uint8), [-1, 0], "packet number -1"),
        (np.zeros((2, 5), np.uint8), [0.0, 1.0], "ids are float64"),
    ]
    for received, ids, text in cases:
        with subtests.test(received=received, ids=ids, text=text), pytest.raises(PacketError, match=text):
            ReedSolomon(2, r=2, packet_bytes=5).decode(received, ids)


def test_a_decoder_refuses_malformed_packets_and_goes_on():
    decoder = ReedSolomon(1, r=1, packet_bytes=3).decoder()
    with pytest.raises(PacketError, match="packet number 2"):
        decoder.add(2, np.zeros(3, np.uint8))
    with pytest.raises(PacketError, match=r"packet 0 is uint8 of shape \(4,\)"):
        decoder.add(0, np.zeros(4, np.uint8))
    with pytest.raises(NotEnoughPackets, match="at least 1 more packet is needed"):
        decoder.source()
    assert decoder.add(0, np.array([1, 2, 3], np.uint8))
    assert decoder.source().tolist() == [[1, 2, 3]]


def test_a_wrong_source_is_refused():
    with pytest.raises(PacketError, match=r"the source is uint8 of shape \(3, 5\)"):
        ReedSolomon(2, r=2, packet_bytes=5).encode(np.zeros((3, 5), np.uint8))


def test_arguments_out_of_range_are_refused(subtests):
    cases = [
        ({"k": 0, "r": 1, "packet_bytes": 1}, "k = 0"),
        ({"k": 1, "r": -1, "packet_bytes": 1}, "r = -1"),
        ({"k": 1, "r": 1, "packet_bytes": 1.5}, "packet_bytes = 1.5"),
        ({"k": 200, "r": 57, "packet_bytes": 1}, r"k \+ r = 257, but a unit has at most 256 packets"),
        ({"k": 200, "r": 56, "packet_bytes": 1, "convention": "rfc5510"}, "a unit by rfc5510 has at most 255 packets"),
        (
            {"k": 2, "r": 2, "packet_bytes": 1, "convention": "rizzo"},
            "convention = 'rizzo': there are cauchy",
        ),
    ]
    for arguments, text in cases:
        with subtests.test(arguments=arguments, text=text), pytest.raises(ParameterError, match=text):
            ReedSolomon(**arguments)


def test_codes_are_found_by_name():
    assert get_code("rs") is CODES["rs"] is ReedSolomon
    with pytest.raises(CodecError, match="no code is called 'turbo': choose one of"):
        get_code("turbo")
