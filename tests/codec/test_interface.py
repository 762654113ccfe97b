"""The interface that all codes share: several units at once, buffers of the caller, surplus packets, wrong types."""

import pickle

import numpy as np
import pytest
from codec_support import random_packets, rank_codes
from hypothesis import given
from hypothesis import strategies as st

from capsmodel import ParameterError
from capsmodel.codec import (
    CodecError,
    LdpcStaircase,
    NotEnoughPackets,
    PacketError,
    RandomLinear,
    ReedSolomon,
    decode_bytes,
    encode_bytes,
    join,
    split,
)
from capsmodel.codec.dc2 import Dc2Mixer, Dc2Option, Dc2Receiver

ALL = [
    ReedSolomon(6, r=5, packet_bytes=300),
    LdpcStaircase(6, r=5, packet_bytes=300),
    RandomLinear(6, r=5, packet_bytes=300),
    RandomLinear(6, r=5, packet_bytes=300, systematic=False),
]
every_code = pytest.mark.parametrize("code", ALL, ids=repr)


def units_of(code, count):
    rng = np.random.default_rng(count)
    return rng.integers(0, 256, (count, code.k, code.packet_bytes), dtype=np.uint8)


@every_code
def test_several_units_are_coded_like_one_after_the_other(code):
    source = units_of(code, 4)
    repair, packets = code.encode(source), code.coded(source)
    for u in range(4):
        assert np.array_equal(repair[u], code.encode(source[u]))
        assert np.array_equal(packets[u], code.coded(source[u]))
    assert code.coded(source[:0]).shape == (0, 11, 300)


@every_code
def test_several_units_are_decoded_with_numbers_in_common_or_of_their_own(code):
    source = units_of(code, 3)
    packets = code.coded(source)
    ids = np.array([10, 1, 2, 3, 9, 5, 7, 0, 8])
    assert np.array_equal(code.decode(packets[:, ids], ids), source)
    of_each = np.array([np.roll(ids, shift) for shift in range(3)])
    received = np.stack([unit[numbers] for unit, numbers in zip(packets, of_each, strict=True)])
    assert np.array_equal(code.decode(received, of_each), source)
    twice = np.r_[ids, ids[:2]]
    assert np.array_equal(code.decode(packets[:, twice], twice), source)


@every_code
def test_results_go_to_the_buffers_given(code):
    source = units_of(code, 2)
    space = np.zeros((2, code.r, 302), np.uint8)
    assert code.encode(source, space[:, :, 1:301]).base is space
    assert np.array_equal(space[:, :, 1:301], code.encode(source))
    assert not space[:, :, 0].any()
    assert not space[:, :, 301:].any()
    space = np.zeros((2, code.k, 302), np.uint8)
    ids = np.arange(2, 11)
    code.decode(code.coded(source)[:, ids], ids, space[:, :, 1:301])
    assert np.array_equal(space[:, :, 1:301], source)
    assert not space[:, :, 301:].any()


def test_buffers_that_cannot_take_the_result():
    code = ReedSolomon(2, r=2, packet_bytes=300)
    packets = code.coded(random_packets(2, 300, 1))
    with pytest.raises(CodecError, match=r"the output is uint8 of shape \(2, 299\)"):
        code.encode(packets[:2], packets[2:, 1:])
    with pytest.raises(CodecError, match="shares memory"):
        code.decode(packets[1:3], [1, 2], packets[:2])
    interleaved = np.zeros((4, 300), np.uint8)  # no byte in common, though between each other
    interleaved[::2] = packets[:2]
    assert np.array_equal(code.encode(interleaved[::2], interleaved[1::2]), packets[2:])


@every_code
def test_one_unit_in_plain_arrays_is_coded_as_from_any_others(code):
    """A unit whose arrays need no closer look takes a shorter way: to the same bytes, whatever is given as output."""
    source, ids = units_of(code, 1)[0], np.array([10, 1, 2, 3, 9, 5, 7, 0, 8])
    columns = np.asfortranarray(source)  # the bytes of a packet are not contiguous: the longer way
    repair = code.encode(columns)
    assert np.array_equal(code.encode(source), repair)
    received = code.coded(source)[ids]
    for numbers in (ids, ids[::-1][::-1], ids.tolist(), ids.astype(np.int32), np.repeat(ids, 2)[::2]):
        assert np.array_equal(code.decode(received, numbers), source)
        assert np.array_equal(code.decode(np.asfortranarray(received), numbers), source)
    for out in (np.empty_like(repair), np.empty((9, 300), np.uint8)[2:7]):
        assert code.encode(source, out) is out
        assert np.array_equal(out, repair)
    for out in (np.empty_like(source), np.empty((9, 300), np.uint8)[2:8]):
        assert code.decode(received, ids, out) is out
        assert np.array_equal(out, source)


def test_the_shorter_way_refuses_what_the_longer_one_does():
    code = ReedSolomon(2, r=2, packet_bytes=300)
    packets = random_packets(5, 300, 1)
    source, ids = packets[:2].copy(), np.array([0, 2])
    locked = np.empty((2, 300), np.uint8)
    locked.setflags(write=False)
    for out, told in (
        (source, "shares memory"),
        (locked, "must be writeable"),
        (np.empty((2, 299), np.uint8), r"shape \(2, 299\)"),
        (np.empty((2, 300), np.int8), "int8"),
    ):
        for call in (lambda out=out: code.encode(source, out), lambda out=out: code.decode(source, ids, out)):
            with pytest.raises(CodecError, match=told):
                call()
    with pytest.raises(CodecError, match="shares memory"):
        code.encode(packets[:2], packets[1:3])
    with pytest.raises(CodecError, match="shares memory"):
        code.decode(packets[:2], ids, packets[1:3])
    with pytest.raises(PacketError, match="2 packets have ids"):
        code.decode(source, np.array([0, 1, 2]))
    with pytest.raises(PacketError, match="packet number 4"):
        code.decode(source, np.array([0, 4]))
    masked = np.ma.MaskedArray(source, mask=False)
    with pytest.raises(PacketError, match="the source is"):
        code.encode(masked)


@every_code
def test_surplus_packets_reveal_a_wrong_one(code):
    packets = code.coded(random_packets(6, 300, 7))
    every = np.arange(11)
    assert code.verify(packets, every) == 5
    assert np.array_equal(code.reconstruct(packets[1:], every[1:]), packets)
    for wrong in range(11):
        damaged = packets.copy()
        damaged[wrong, 17] ^= 4
        with pytest.raises(PacketError, match="contradict each other"):
            code.verify(damaged, every)
    with pytest.raises(PacketError, match="those of one unit"):
        code.verify(packets[None], every)


def test_without_surplus_nothing_is_compared():
    code = ReedSolomon(6, r=5, packet_bytes=30)
    packets = code.coded(random_packets(6, 30, 7))
    packets[3] ^= 1
    assert code.verify(packets[:6], range(6)) == 0
    with pytest.raises(NotEnoughPackets):
        code.verify(packets[:5], range(5))


@given(data=st.data())
def test_numbers_that_determine_the_source_are_those_that_decode(data):
    code = data.draw(st.sampled_from([ReedSolomon(6, r=5, packet_bytes=1), *rank_codes(6, 5, 1)]))
    numbers = data.draw(st.lists(st.integers(0, 10), min_size=1, max_size=14))
    packets = code.coded(random_packets(6, 1, 3))
    if code.determines(numbers):
        assert np.array_equal(code.decode(packets[numbers], numbers), random_packets(6, 1, 3))
    else:
        with pytest.raises(NotEnoughPackets):
            code.decode(packets[numbers], numbers)


@every_code
def test_what_a_decoder_returns_is_the_callers(code):
    packets = code.coded(random_packets(6, 300, 1))
    decoder = code.decoder()
    for number in range(10, -1, -1):
        decoder.add(number, packets[number])
    decoder.source()[:] = 0
    assert np.array_equal(decoder.source(), random_packets(6, 300, 1))


@every_code
def test_what_is_known_before_the_unit_is_complete(code):
    source = random_packets(6, 300, 1)
    packets = code.coded(source)
    decoder = code.decoder()
    for number in (4, 1):
        decoder.add(number, packets[number])
    known, found = decoder.known()
    expected = [1, 4] if code.systematic else []
    assert np.flatnonzero(known).tolist() == expected
    assert np.array_equal(found, source[expected])


def test_peeling_finds_sources_of_an_incomplete_unit():
    code = LdpcStaircase(10, r=6, packet_bytes=4, n1=3, seed=1)
    source = random_packets(10, 4, 1)
    packets = code.coded(source)
    first_row = [s for s in code.matrix.row_symbols[: code.matrix.row_start[1]] if s < 10]
    decoder = code.decoder()
    for number in [*first_row[1:], 10]:
        decoder.add(int(number), packets[number])
    known, found = decoder.known()
    assert not decoder.complete
    assert known[first_row[0]]
    assert np.array_equal(found, source[known])
    assert not LdpcStaircase(10, r=6, packet_bytes=4).decoder().known()[0].any()


def test_source_packets_are_used_before_repair_packets():
    """Eleven of eleven packets, repair packets first and wrong: nothing has to be computed from them."""
    code = ReedSolomon(6, r=5, packet_bytes=300)
    source = random_packets(6, 300, 1)
    wrong = np.concatenate([np.zeros((5, 300), np.uint8), source])
    assert np.array_equal(code.decode(wrong, [6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5]), source)


@every_code
def test_codes_survive_pickling_also_after_use(code):
    packets = code.coded(random_packets(6, 300, 1))
    code.decode(packets[1:], range(1, 11))
    again = pickle.loads(pickle.dumps(code))
    assert np.array_equal(again.decode(packets[1:], range(1, 11)), random_packets(6, 300, 1))
    assert repr(again) == repr(code)


def test_repr_tells_codes_apart():
    assert repr(ReedSolomon(2, r=1, packet_bytes=3, convention="zfec")).endswith("packet_bytes=3, convention='zfec')")


def test_bytes_in_and_out():
    code = ReedSolomon(4, r=3, packet_bytes=5)
    packets = encode_bytes(code, memoryview(b"eighteen bytes in."))
    assert {len(packet) for packet in packets} == {5}
    assert decode_bytes(code, {6: packets[6], 5: packets[5], 1: packets[1], 2: packets[2]}) == b"eighteen bytes in.\0\0"
    with pytest.raises(NotEnoughPackets):
        decode_bytes(code, {0: packets[0]})
    with pytest.raises(PacketError, match="packet 1 has 4 bytes"):
        decode_bytes(code, {1: packets[1][:4]})
    with pytest.raises(ParameterError, match="data of 21 bytes"):
        encode_bytes(code, bytes(21))


@given(data=st.binary(min_size=1, max_size=60), k=st.integers(1, 9))
def test_split_and_join(data, k):
    source = split(data, k=k)
    assert source.shape == (k, -(-len(data) // k))
    assert join(source, source_bytes=len(data)) == data


def test_wrong_arguments_end_in_one_line(subtests):
    cases = [
        (lambda: split(b"", k=2), "data is empty"),
        (lambda: split("text", k=2), "turn it into bytes first"),
        (lambda: split(np.zeros((4, 4))[:, ::2], k=2), "contiguous bytes are expected"),
        (lambda: join(split(b"ab", k=2), source_bytes=3), "source_bytes = 3, but it must be at most 2"),
        (lambda: RandomLinear(4, r=2, packet_bytes=1, density=7.5), r"density = 7\.5"),
        (lambda: RandomLinear(4, r=2, packet_bytes=1, density="a"), "density = 'a'"),
        (lambda: RandomLinear(4, r=2, packet_bytes=1, systematic="no"), "systematic = 'no'"),
        (lambda: ReedSolomon(4, r=2, packet_bytes=1, convention=["zfec"]), r"convention = \['zfec'\]"),
        (lambda: ReedSolomon.variant_of(n1=3), "the code rs has no such option"),
        (lambda: LdpcStaircase.variant_of(n1=2), "packets carry n1 3, 4, 5"),
    ]
    for call, told in cases:
        with subtests.test(call=call, told=told), pytest.raises(ParameterError, match=told):
            call()


MASKED = np.ma.MaskedArray(np.zeros((2, 5), np.uint8), mask=True)
CODE = ReedSolomon(2, r=2, packet_bytes=5)


def test_wrong_packets_end_in_one_line(subtests):
    cases = [
        (lambda: CODE.encode(MASKED), "the source is a masked array"),
        (lambda: CODE.encode(b"0123456789"), "np.frombuffer"),
        (lambda: CODE.decode(MASKED, [0, 1]), "the received packets are a masked array"),
        (lambda: CODE.decode(np.zeros((2, 5), np.uint8), [[0], [1, 2]]), "ragged"),
        (lambda: CODE.decode(np.zeros((2, 5), np.uint8), [True, False]), "ids are bool"),
        (lambda: CODE.decode(np.zeros((3, 2, 5), np.uint8), np.zeros((2, 2), int)), r"ids of shape \(2, 2\)"),
        (lambda: CODE.decoder().add(True, np.zeros(5, np.uint8)), "packet number True"),
        (lambda: CODE.determines([0, 4]), "packet number 4"),
        (lambda: CODE.determines([[0, 1]]), "give one number for each packet"),
        (lambda: Dc2Receiver(packet_bytes=1).add(-1, Dc2Option(), np.zeros(1, np.uint8)), "dsn = -1"),
        (lambda: Dc2Receiver(packet_bytes=1).add("1", Dc2Option(), np.zeros(1, np.uint8)), "dsn = '1'"),
        (lambda: Dc2Mixer(packet_bytes=1).mix("2", np.zeros(1, np.uint8)), "dsn = '2'"),
    ]
    for call, told in cases:
        with subtests.test(call=call, told=told), pytest.raises(PacketError, match=told):
            call()


@pytest.mark.parametrize(("k", "r"), [(1, 3), (3, 3), (200, 100), (1200, 600)])
def test_ldpc_decoder_completes_at_the_packet_that_determines_the_source(k, r):
    """The equations kept from packet to packet against an elimination from the start, also beyond 64 unknowns."""
    code = LdpcStaircase(k, r=r, packet_bytes=1, n1=3, seed=5)
    packets = code.coded(random_packets(k, 1, 1))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(k + r)
        needed = int(code.packets_needed(order).elimination)
        decoder = code.decoder()
        complete = [decoder.add(int(number), packets[number]) for number in order[:needed]]
        assert complete.index(True) == needed - 1
        assert np.array_equal(decoder.source(), packets[:k])
