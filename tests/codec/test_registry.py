"""Codes are listed once: what packets, streams and options need of one is what its class says."""

import numpy as np
import pytest

from capsmodel import ParameterError
from capsmodel.codec import CODES, CodecError, PacketError, ReedSolomon, StreamDecoder, StreamEncoder, register
from capsmodel.codec.packets import parse
from capsmodel.codec.registry import build_code, unregister


class Shifted(ReedSolomon):
    """Reed-Solomon whose repair packets are XORed with a constant: a code of one's own, with variants and a seed."""

    name = "shifted"
    wire_number = 201
    variants = {7: {"by": 1}, 8: {"by": 2}}  # noqa: RUF012 # as a user would write it
    default_variant = 8
    default_seed = 5

    def __init__(self, k, *, r, packet_bytes, by, seed):
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        self.shift = by + seed

    def _encode(self, source, repair):
        super()._encode(source, repair)
        repair ^= self.shift

    def _decode(self, received, numbers, source):
        plain = received.copy()
        plain[..., numbers >= self.k, :] ^= self.shift
        super()._decode(plain, numbers, source)


@pytest.fixture
def own_code():
    register(Shifted)
    yield Shifted
    unregister(Shifted)


@pytest.mark.parametrize(("variant", "seed", "shift"), [(None, None, 7), (7, 9, 10)])
def test_own_code_in_a_stream(own_code, variant, seed, shift):
    data = np.random.default_rng(1).bytes(1000)
    encoder = StreamEncoder(k=4, r=3, packet_bytes=20, code="shifted", variant=variant, seed=seed)
    packets = encoder.feed(data) + encoder.finish()
    first = parse(packets[4])
    plain = ReedSolomon(4, r=3, packet_bytes=20).encode(np.frombuffer(data[:80], np.uint8).reshape(4, 20))
    assert np.array_equal(first.payload, plain[0] ^ shift)
    decoder = StreamDecoder(stream=encoder.stream)
    kept = [packet for at, packet in enumerate(packets) if at % 7 not in (0, 2, 4)]
    assert b"".join(decoder.add(packet) for packet in kept) == data
    decoder.finish()


def test_names_and_numbers_are_unique(own_code):
    with pytest.raises(CodecError, match="two codes are named 'shifted'"):
        register(Shifted)
    with pytest.raises(CodecError, match="the number 201 of other in packets is that of shifted"):
        register(type("Other", (Shifted,), {"name": "other"}))
    with pytest.raises(ParameterError, match="wire_number = 256"):
        register(type("Other", (Shifted,), {"name": "other", "wire_number": 256}))
    assert "other" not in CODES


def test_code_that_was_forgotten_is_no_longer_read(own_code):
    encoder = StreamEncoder(k=4, r=3, packet_bytes=20, code="shifted")
    (packet, *_) = encoder.finish()
    unregister(Shifted)
    with pytest.raises(PacketError, match="code number 201, but this program knows 1, 2, 3"):
        parse(packet)
    register(Shifted)


def test_code_without_a_number_is_not_sent():
    local = register(type("Local", (ReedSolomon,), {"name": "local", "wire_number": None}))
    with pytest.raises(ParameterError, match="code = 'local', but packets carry rs, ldpc, rlnc"):
        StreamEncoder(k=1, r=0, packet_bytes=1, code="local")
    unregister(local)


def test_unknown_code():
    with pytest.raises(CodecError, match="no code is called 'raptor'"):
        StreamEncoder(k=1, r=0, packet_bytes=1, code="raptor")


def test_every_variant_is_built_and_found_again(subtests):
    for name in ["rs", "ldpc", "rlnc"]:
        with subtests.test(name=name):
            code = CODES[name]
            seed = code.default_seed or 0
            for number, options in code.variants.items():
                made = build_code(name, k=20, r=12, packet_bytes=3, variant=number, seed=seed)
                assert {option: getattr(made, option) for option in options} == dict(options)
                assert code.variant_of(**options) == number
            assert code.variant_of() == code.default_variant


def test_numbers_on_the_wire_are_those_of_the_format():
    """Written files must stay readable: these numbers never change."""
    assert {name: code.wire_number for name, code in CODES.items()} == {"rs": 1, "ldpc": 2, "rlnc": 3}
    assert [dict(v)["convention"] for v in CODES["rs"].variants.values()] == ["cauchy", "zfec", "rfc5510", "backblaze"]
    assert {n: dict(v)["n1"] for n, v in CODES["ldpc"].variants.items()} == {n: n for n in range(3, 11)}
    rlnc = CODES["rlnc"].variants
    assert dict(rlnc[0]) == {"systematic": True, "density": 15}
    assert dict(rlnc[1]) == {"systematic": False, "density": 15}
    assert dict(rlnc[31]) == {"systematic": False, "density": 0}
