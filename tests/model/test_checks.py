"""Unit: what the checks of all closed forms refuse, and what was silently wrong before they did."""

import datetime
import itertools
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import capsmodel as cm
from capsmodel.checks import ParameterError, as_floats, choice, closed_form, flag, one_number, positive, whole
from capsmodel.coding._unit_search import ceiling_rule
from capsmodel.coding.blocking import twice_average_missed_share
from capsmodel.coding.decoding import decode_prob_blocked_count
from capsmodel.fct.completion import tail_fct
from capsmodel.metrics import reorder_density
from capsmodel.multipath.lia import single_path_window
from capsmodel.queueing.mg1 import effective_bandwidth_wait_prob, mg1_wait_prob
from capsmodel.queueing.service import Deterministic
from capsmodel.reordering.probability import in_order_prob
from capsmodel.units import parse_rate_bps, parse_size_bytes
from capsmodel.workloads.catalogue import PacketSizes

FABRIC = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
MASKED = np.ma.array([0.2, 0.9], mask=[False, True])


def test_text_is_no_number(subtests):
    cases = ["0.5", b"0.5", ["0.5"], np.array(["0.5"]), np.array(["0.5"], object)]
    for text in cases:
        with subtests.test(text=text), pytest.raises(ParameterError, match="must be a number"):
            as_floats("x", text)


def test_what_numpy_would_convert_is_refused(subtests):
    cases = [
        *(1j, [1 + 0j], np.complex128(1), np.array([np.complex128(1)], object)),
        *(datetime.date(2020, 1, 1), np.datetime64("2020-01-01"), [np.timedelta64(3, "s")]),
        *(np.array([np.datetime64("2020-01-01")], object), [None, 1.0], object(), [1, [2]], {}, [10**5000, "x"]),
    ]
    for value in cases:
        with subtests.test(value=value), pytest.raises(ParameterError, match="must be a number"):
            as_floats("x", value)


def test_what_is_left_out_is_missing_and_percent_is_told_what_it_is():
    """Catches "= None, but it must be a number", and a share of 20 that is refused without a word on percent."""
    with pytest.raises(ParameterError, match=r"^rtt_short_s is missing: give a number or an array of numbers$"):
        cm.optimal_coding_unit(64, blocking_prob=0.2)
    with pytest.raises(ParameterError, match=r"^blocking_prob = 20, but it must lie in \[0, 1\); 20% is 0\.2$"):
        cm.decode_prob(10, r=2, blocking_prob=[0.1, 20])
    with pytest.raises(ParameterError, match=r"^blocking_prob = 120, but it must lie in \[0, 1\)$"):
        cm.decode_prob(10, r=2, blocking_prob=120)


def test_masked_entries_are_not_computed(subtests):
    for value in [MASKED, [MASKED], np.ma.masked, [1.0, np.ma.masked]]:
        with subtests.test(value=value):
            with pytest.raises(ParameterError, match="masked entries"):
                as_floats("x", value)
            assert as_floats("x", MASKED[:1]).tolist() == [0.2]


def test_numbers_of_other_types_are_taken():
    given_values = [True, 3, Decimal("0.5"), Fraction(1, 4), np.float32(0.5), np.int8(3), np.array(2.0)]
    assert [as_floats("x", value).item() for value in given_values] == [1.0, 3.0, 0.5, 0.25, 0.5, 3.0, 2.0]
    assert as_floats("x", [Fraction(1, 4), 10**20]).tolist() == [0.25, 1e20]


def test_integers_beyond_float64_are_refused():
    for value in (10**400, -(10**400), 10**5000, [10**400, 1], Fraction(10**400)):
        with pytest.raises(ParameterError, match=r"beyond 1\.8e308"):
            as_floats("x", value)
    with pytest.raises(ParameterError, match="blocking_prob = inf"):
        cm.decode_prob(3, r=1, blocking_prob=np.longdouble("1e400"))


def test_negative_zero_is_zero():
    assert math.copysign(1, as_floats("x", -0.0)) == 1
    assert np.copysign(1, as_floats("x", [1.0, -0.0])).tolist() == [1, 1]
    assert in_order_prob(10, congested_prob=-0.0) == 1
    assert effective_bandwidth_wait_prob(1.0, load=-0.0, mean_service=1.0, second_moment_service=2.0) == 0


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(ParameterError, match=r"^k of shape \(2,\) and r of shape \(3,\) do not broadcast"):
        cm.decode_prob([1, 2], r=[1, 2, 3], blocking_prob=0.1)
    with pytest.raises(ParameterError, match=r"windows_packets of shape \(0,\)"):
        cm.connection_loss_prob([], rtts_s=1e-3)


def test_only_errors_of_numbers_and_shapes_become_parameter_errors():
    def broken(x):
        raise ValueError("a mistake in the program")

    with pytest.raises(ValueError, match="a mistake"):
        closed_form(broken)(1.0)
    with pytest.raises(ParameterError, match="range of float64"):
        closed_form(lambda x: 1e300 ** x)(2)  # fmt: skip


def test_one_number_and_flags():
    assert one_number(whole, "replicas", 2, minimum=1) == 2.0
    with pytest.raises(ParameterError, match=r"burst_packets is an array of shape \(2,\)"):
        one_number(positive, "burst_packets", [1, 2])
    for value in (1, "yes", [True], np.ones(2, bool)):
        with pytest.raises(ParameterError, match="True or False"):
            flag("exact", value)


def test_a_service_must_be_a_distribution():
    with pytest.raises(ParameterError, match="service is a float"):
        mg1_wait_prob(1.0, load=0.5, service=1.0)


def test_messages_are_short():
    with pytest.raises(ParameterError) as refused:
        as_floats("x", "9" * 3000)
    assert len(str(refused.value)) < 100
    with pytest.raises(ParameterError) as refused:
        parse_rate_bps("1" * 3000 + " x y")
    assert len(str(refused.value)) < 200


def test_rates_that_no_number_holds(subtests):
    for text in ["1e999999Gbps", "1e99999999999999999999Gbps", "١Gbps"]:
        with subtests.test(text=text), pytest.raises(ParameterError, match="is not a rate"):
            parse_rate_bps(text)


def test_bytes_are_no_rate(subtests):
    """Catches units in lower case before they are looked up: 10GBps was 10 Gbit/s."""
    for text in ["10GBps", "10GB/s", "10GBPS", "8Bps"]:
        with subtests.test(text=text):
            with pytest.raises(ParameterError, match=f"^'{text}' is not a rate: B is bytes, write bits with a small b"):
                parse_rate_bps(text)
            assert parse_rate_bps("10GBit/s") == parse_rate_bps("10gbps") == 1e10


def test_bits_are_no_size(subtests):
    """Catches units in lower case before they are looked up: 1500b was 1500 bytes."""
    for text in ["1500b", "8e3b", "1Mb", "64 Kb", "1Gib"]:
        with subtests.test(text=text):
            with pytest.raises(
                ParameterError, match=f"^'{text}' is not a size: b is bits, write bytes with a capital B"
            ):
                parse_size_bytes(text)
            with pytest.raises(ParameterError, match=r"\(B, KB, MB, GB, KiB, MiB, GiB\), as in 1500B"):
                parse_size_bytes("12")
            assert [parse_size_bytes(text) for text in ("64kb", "64KB", "64kB", "64kib")] == [
                64000,
                64000,
                64000,
                65536,
            ]


def test_repair_packets_near_certain_blocking(subtests):
    """The exact ceiling of the float p where no whole number is meant; never negative, as with the rounding rule."""
    for k, exponent in itertools.product([1, 3, 64], range(40, 53)):
        with subtests.test(k=k, exponent=exponent):
            p = 1 - 2.0**-exponent
            exact = -(-k * Fraction(p) // (1 - Fraction(p)))
            if exact >= 2**53:
                with pytest.raises(ParameterError, match="2\\^53"):
                    cm.repair_packets(k, blocking_prob=p)
            else:
                assert cm.repair_packets(k, blocking_prob=p) == pytest.approx(int(exact), rel=1e-15, abs=1)
                assert ceiling_rule(np.asarray(float(k)), np.asarray(p)) > 0


def test_certain_blocking_is_refused_by_the_search():
    with pytest.raises(ParameterError, match="so near 1"):
        cm.optimal_coding_unit(64, blocking_prob=1 - 2**-53, **FABRIC)


def test_extreme_but_valid_input():
    assert mg1_wait_prob(1e300, load=0.5, service=Deterministic(1.0)) == 0
    assert single_path_window(5e-324) == pytest.approx(math.sqrt(2) / math.sqrt(5e-324), rel=1e-12)
    assert cm.duplicate_acks_prob(10**9, flow_packets=10, congested_prob=0.2) == 0
    assert reorder_density([1, 2**52]).density.tolist() == [1.0]
    assert decode_prob_blocked_count(3, r=1, blocked_packets=1, total_packets=40) == 1


@pytest.mark.parametrize("tail", ["exact", "effective_bandwidth"])
def test_no_flow_is_faster_than_without_contention(tail):
    sizes = cm.load_workload("websearch").in_packets(1460)
    assert tail_fct(0.5, sizes=sizes, quantile=0, tail=tail) == 1
    assert tail_fct(0.5, sizes=PacketSizes.fixed(10), quantile=0.99, tail=tail) > 1


def test_missed_share_needs_rtts():
    with pytest.raises(ParameterError, match="usual_rtts_s"):
        twice_average_missed_share(0.1, usual_rtts_s=[], base_rtt_s=1e-4, full_wait_s=9e-4)


def test_work_that_would_not_end_is_refused(subtests):
    cases = [
        (lambda: cm.optimal_coding_unit(10**9, blocking_prob=0.2, objective="eq4", **FABRIC), "give max_k = 131072"),
        (lambda: cm.delay_curve(10**9, blocking_prob=0.2, **FABRIC), "8192 fit"),
        (lambda: cm.duplicate_acks_prob(10**9, flow_packets=10**12, congested_prob=0.2), "4194304 fit"),
        (lambda: cm.decode_prob_rlnc(10**15, r=25 * 10**13, blocking_prob=0.2), "lower k and r"),
        (lambda: cm.decode_prob([10**15], r=25 * 10**13, blocking_prob=0.2), "takes more than 16384 steps"),
        (lambda: cm.full_rank_prob(2, received=3, field_size=2**53 - 1), "at most 4294967296"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()


def test_a_large_window_needs_no_more_than_a_long_round_trip_holds():
    """Beyond 2 (RTT_L - RTT_S) C / MSS packets a unit has nothing to gain, so the window does not matter."""
    best = cm.optimal_coding_unit([10**9, 1500], blocking_prob=0.01, **FABRIC)
    assert (best.k[0], best.r[0], best.near_k_max[0]) == (1, 0, 10**9)
    every = cm.delay_curve(1500, blocking_prob=0.01, **FABRIC)
    near = np.flatnonzero(every.delay_s <= 1.01 * every.delay_s.min()) + 1
    assert (best.near_k_min[1], best.near_k_max[1]) == (near[0], near[-1])


# What a command that compiles, draws and solves nothing must not load: half a second each.
SLOW = {"numba", "matplotlib", "scipy.linalg", "simpy", "sympy"}


@pytest.mark.parametrize(
    ("formula", "command", "not_loaded"),
    [
        ("capsmodel.decode_prob(9, r=3, blocking_prob=0.2)", "optimal-k 8", SLOW | {"pandas", "pyarrow", "capsim"}),
        ("", "study caps-mininet-wait --costs", SLOW),
    ],
)
def test_the_front_door_is_light(formula, command, not_loaded):
    program = (
        f"import sys, capsmodel\n{formula}\n"
        "from capsmodel.cli import main\n"
        f"try:\n    main({command.split()})\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "capsmodel" in loaded
    assert not loaded & not_loaded


@pytest.mark.parametrize("times", [[1.0, 2.0], "1"])
def test_a_distribution_of_one_time_takes_one_number(times):
    with pytest.raises(ParameterError, match=r"one number|must be a number"):
        Deterministic(times)


def test_a_number_of_thousands_of_digits_is_no_word():
    """Python refuses to write it in decimal, which ended in a traceback."""
    with pytest.raises(ParameterError, match="weight = a number of thousands of digits: there are "):
        choice("weight", 10**5000, ["window", "rate"])
