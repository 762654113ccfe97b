"""Contract: what the measurement of speed calls, what it makes of the clock, and what it refuses; never how fast."""

import sys
from itertools import accumulate, count

import numpy as np
import pytest
from cli.commands import printed, refused
from numpy.testing import assert_allclose

from capsmodel._environment import processor
from capsmodel.checks import ParameterError
from capsmodel.codec import LdpcStaircase, RandomLinear, ReedSolomon
from capsmodel.codec.speed import ROUND_S, least_mean_s, stream_times, unit_times


class Work:
    """Actions that take known times by a clock of their own."""

    def __init__(self, *times_s):
        self.now_s, self.calls = 0.0, 0
        self.times_s = times_s

    def clock(self):
        return self.now_s

    def act(self):
        self.now_s += self.times_s[min(self.calls, len(self.times_s) - 1)]
        self.calls += 1


def test_the_first_call_of_each_action_does_not_count():
    """It may compile: 100 s here, behind which each call takes 5 ms, a round by itself."""
    work = Work(100.0, 5e-3)
    assert_allclose(least_mean_s([work.act], seconds=0.1, clock=work.clock), 5e-3, rtol=1e-9)


def test_the_least_mean_of_rounds_counts():
    """Rounds of one call of 9, 4 and 7 ms: by then 16 ms have passed."""
    work = Work(0.0, 9e-3, 4e-3, 7e-3, 1e-3)
    assert_allclose(least_mean_s([work.act], seconds=13e-3, clock=work.clock), 4e-3, rtol=1e-9)
    assert work.calls == 4


def test_short_calls_are_counted_by_rounds():
    """Calls of 1 us: rounds of 1024, the first power of two that lasts half of ROUND_S; 512 would be too short."""
    work = Work(1e-6)
    assert_allclose(least_mean_s([work.act], seconds=0.01, clock=work.clock), 1e-6, rtol=1e-9)
    before = sum(2**power for power in range(10))
    rounds, rest = divmod(work.calls - 1 - before, 1024)
    assert (rest, 512e-6 < ROUND_S / 2 <= 1024e-6) == (0, True)
    assert (
        rounds == next(count for count, s in enumerate(accumulate([before * 1e-6, *[1024e-6] * 99])) if s >= 0.01) + 1
    )


def test_actions_take_turns():
    seen, work = [], Work(0.0)

    def action(name):
        def act():
            seen.append(name)
            work.now_s += 1e-3

        return act

    least_mean_s([action("a"), action("b"), action("c")], seconds=0.005, clock=work.clock)
    assert seen[:9] == list("abcabcabc")


@pytest.mark.parametrize("kind", [ReedSolomon, LdpcStaircase, RandomLinear])
def test_every_action_decodes_the_unit_from_other_losses(kind, monkeypatch):
    code, patterns = kind(12, r=6, packet_bytes=50), set()

    def decode(received, ids, out):
        kind.decode(code, received, ids, out)
        lost = tuple(sorted(set(range(12)) - set(ids.tolist())))
        assert np.array_equal(out, source)
        patterns.add(lost)

    seen = []
    monkeypatch.setattr(kind, "encode", lambda self, packets, out=None: seen.append(packets))
    source = np.random.default_rng(1).integers(0, 256, (12, 50), dtype=np.uint8)
    monkeypatch.setattr(code, "decode", decode)
    found = list(unit_times(code, lost=[3], seconds=1e-4, rng=1))
    assert [(each.code, each.action, each.lost_packets) for each in found] == [
        (code.name, "encode", 0),
        (code.name, "decode", 3),
    ]
    assert np.array_equal(seen[0], source)
    assert len(patterns) == 16
    assert {len(lost) for lost in patterns} == {3}


def test_losses_that_a_code_never_decodes_have_no_time():
    """A code that gives up with one packet lost, as LDPC does with some."""

    class GivesUp(ReedSolomon):
        def determines(self, ids):
            return False

    (_, decode) = unit_times(GivesUp(5, r=2, packet_bytes=8), lost=[1], seconds=1e-4)
    assert decode.unit_s is None


def test_what_cannot_be_lost_is_refused(subtests):
    cases = [(0, 1, "r = 0, but without a repair packet"), (3, 4, "lost"), (3, 0, "lost"), (9, 6, "lost")]
    for r, lost, told in cases:
        with subtests.test(r=r, lost=lost, told=told), pytest.raises(ParameterError, match=told):
            list(unit_times(ReedSolomon(5, r=r, packet_bytes=8), lost=[lost], seconds=1e-4))


# -- as a command

QUICK = ["codec", "bench", "--k", 6, "--r", 4, "--packet-size", "64B", "--seconds", 1e-4, "--csv"]


def table(words, capsys):
    head, *lines = printed(words, capsys).splitlines()
    return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


def test_a_row_for_each_code_action_and_loss(capsys):
    rows = table([*QUICK, "--code", "rs", "--code", "rlnc", "--lost", "1,3"], capsys)
    actions = [("encode", "0"), ("decode", "1"), ("decode", "3"), ("stream encode", "0"), ("stream decode", "1")]
    assert [(row["code"], row["action"], row["lost_packets"]) for row in rows] == [
        (code, *rest) for code in ("rs", "rlnc") for rest in actions
    ]
    for row in rows:
        assert_allclose(float(row["source_bytes_per_s"]), 6 * 64 / float(row["unit_s"]), rtol=1e-9)
        assert_allclose(float(row["source_rate_bps"]), 8 * float(row["source_bytes_per_s"]), rtol=1e-9)
        assert row["processor"] == processor() != ""


@pytest.mark.parametrize("there", [True, False])
def test_isal_stands_beside_where_pyeclib_is_installed(there, capsys, monkeypatch):
    if not there:
        monkeypatch.setitem(sys.modules, "pyeclib", None)
        monkeypatch.setitem(sys.modules, "pyeclib.ec_iface", None)
    assert ["ISA-L" in (row["code"] for row in table(QUICK, capsys))] == [there]
    assert ("pip install pyeclib" in printed(QUICK[:-1], capsys)) == (not there)


def test_isal_has_no_larger_units(capsys):
    rows = table(["codec", "bench", "--k", 250, "--r", 6, "--packet-size", "8B", "--seconds", 1e-4, "--csv"], capsys)
    assert {row["code"] for row in rows} == {"rs", "ldpc", "rlnc"}


def test_the_time_of_a_stream_is_that_of_its_packets_and_none_where_it_is_not_decoded():
    ticks = count()
    times = list(stream_times("rs", k=4, r=2, packet_bytes=8, lost=2, seconds=1.0, clock=lambda: float(next(ticks))))
    assert [(each.action, each.lost_packets, each.unit_s) for each in times] == [
        ("stream encode", 0, 1.0),
        ("stream decode", 2, 1.0),
    ]
    *_, undecoded = stream_times("rs", k=4, r=2, packet_bytes=8, lost=3, seconds=1e-4)
    assert undecoded.unit_s is None


def test_refusals(subtests, capsys):
    cases = [
        ("--k 6 --r 4 --lost 5", "--lost 5, but of 6 + 4 packets 1 to 4 can be computed"),
        ("--k 6 --r 4 --lost 2,0", "--lost 0, but of 6 + 4 packets 1 to 4 can be computed"),
        ("--r 0", "--r 0, but without a repair packet there is nothing to encode: give --r of at least 1"),
        ("--seconds 0", "--seconds 0, but it must be above 0 and at most 60"),
        ("--seconds nan", "--seconds nan, but it must be above 0 and at most 60"),
        ("--k 300 --code rs", "k + r = 308, but a unit has at most 256 packets: use smaller units"),
        ("--code raptorq", "--code = 'raptorq': there are "),
        ("--packet-size 0B", "packet_bytes = 0, but"),
    ]
    for options, told in cases:
        with subtests.test(options=options, told=told):
            assert refused(f"codec bench {options}", capsys).startswith(f"capsmodel: {told}")
