"""DC2-MTCP: the option's bytes, mixing one packet at a time, and a receiver that delivers in order."""

import numpy as np
import pytest
from codec_support import random_packets
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.codec import PacketError
from capsmodel.codec.dc2 import C_MAX, Dc2Mixer, Dc2Option, Dc2Receiver
from capsmodel.codec.gf256 import EXP, LOG

ORIGINAL = Dc2Option()


@st.composite
def options(draw):
    rest = draw(st.lists(st.integers(1, 65535), max_size=C_MAX - 1, unique=True))
    coefficients = draw(st.lists(st.integers(1, 255), min_size=len(rest) + 1, max_size=len(rest) + 1))
    return Dc2Option((0, *sorted(rest)), tuple(coefficients))


@given(option=options())
def test_option_takes_3n_minus_1_bytes_and_comes_back(option):
    written = option.to_bytes()
    assert len(written) == 3 * option.mixed - 1
    assert Dc2Option.parse(written) == option
    for length in range(len(written)):
        with pytest.raises(PacketError):
            Dc2Option.parse(written[:length])


def test_original_packet_has_one_byte():
    assert ORIGINAL.to_bytes() == b"\0"
    assert Dc2Option.parse(b"\0").mixed == 0


def test_layout_in_hexadecimal():
    option = Dc2Option(offsets=(0, 1, 300), coefficients=(7, 1, 200))
    assert option.to_bytes().hex() == "030001012c0701c8"


def test_15_packets_exceed_tcps_option_space(subtests):
    for n, fits in [(1, True), (13, True), (14, False), (15, False)]:
        with subtests.test(n=n, fits=fits):
            option = Dc2Option(tuple(range(n)), (1,) * n)
            assert option.fits_tcp is fits
            assert len(option.to_bytes()) == {1: 2, 13: 38, 14: 41, 15: 44}[n]


def test_broken_options_say_why(subtests):
    cases = [
        ("", "empty"),
        ("0000", "n = 0 takes 1"),
        ("02000107", "n = 2 takes 5"),
        ("0200000701", "increase strictly"),
        ("0200010700", "1 .. 255"),
        ("10" + "0001" * 15 + "01" * 16, "n = 16"),
    ]
    for written, told in cases:
        with subtests.test(written=written, told=told), pytest.raises(PacketError, match=told):
            Dc2Option.parse(bytes.fromhex(written))


def test_option_with_another_first_offset():
    with pytest.raises(PacketError, match="DSN of its first packet"):
        Dc2Option((1, 2), (1, 1))
    with pytest.raises(PacketError, match="one for each"):
        Dc2Option((0, 2), (1,))


def test_mixed_packet_is_the_sum_by_logarithms():
    """Products by the paper's logarithms, in Python integers: log a + log b modulo 255."""
    source = random_packets(30, 16, 1)
    mixer = Dc2Mixer(packet_bytes=16, rng=5)
    for dsn in (12, 11, 3, 29):
        mixer.mix(dsn, source[dsn])
    dsn, option, packet = mixer.finish()
    assert (dsn, option.offsets) == (3, (0, 8, 9, 26))
    for byte in range(16):
        total = 0
        for offset, factor in zip(option.offsets, option.coefficients, strict=True):
            symbol = int(source[dsn + offset, byte])
            total ^= int(EXP[(int(LOG[symbol]) + int(LOG[factor])) % 255]) if symbol else 0
        assert packet[byte] == total


def test_mixer_refuses_what_the_option_cannot_say():
    packet = np.zeros(4, np.uint8)
    mixer = Dc2Mixer(packet_bytes=4, rng=1)
    with pytest.raises(PacketError, match="empty"):
        mixer.finish()
    mixer.mix(0, packet)
    with pytest.raises(PacketError, match="already"):
        mixer.mix(0, packet)
    with pytest.raises(PacketError, match="too far apart"):
        mixer.mix(65536, packet)
    for dsn in range(1, C_MAX):
        mixer.mix(dsn, packet)
    with pytest.raises(PacketError, match="finish it first"):
        mixer.mix(C_MAX, packet)
    with pytest.raises(PacketError, match=r"shape \(4,\)"):
        mixer.mix(1, packet[:3])


@pytest.mark.parametrize("preemptive", [True, False])
def test_long_connection_with_losses_is_delivered_in_order(preemptive):
    """Each 12 packets lose one; a coded packet over them follows, reordered by up to 6 packets."""
    rng = np.random.default_rng(8)
    source = random_packets(600, 20, 9)
    mixer = Dc2Mixer(packet_bytes=20, rng=10)
    sent = []
    for start in range(0, 600, 12):
        lost = start + int(rng.integers(12))
        for dsn in range(start, start + 12):
            mixer.mix(dsn, source[dsn])
            if dsn != lost:
                sent.append((dsn, ORIGINAL, source[dsn]))
        sent.append(mixer.finish())
    order = np.argsort(np.arange(len(sent)) + rng.uniform(0, 6, len(sent)))
    receiver = Dc2Receiver(packet_bytes=20, window_packets=40, preemptive=preemptive)
    delivered = np.vstack([receiver.add(*sent[at]) for at in order])
    assert np.array_equal(delivered, source)
    assert receiver.next_dsn == 600


def test_receiver_rejects_what_lies_outside_its_window():
    receiver = Dc2Receiver(packet_bytes=1, window_packets=4)
    packet = np.ones(1, np.uint8)
    with pytest.raises(PacketError, match="ahead of packet 0"):
        receiver.add(4, ORIGINAL, packet)
    for dsn in range(8):
        receiver.add(dsn, ORIGINAL, packet)
    assert receiver.add(2, ORIGINAL, packet).size == 0  # delivered long ago
    with pytest.raises(PacketError, match="no longer kept"):
        receiver.add(2, Dc2Option((0, 6), (1, 1)), packet)
