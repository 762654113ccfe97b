"""Identity tests of the judges of figures from packets: made-up tables on both sides of each threshold, and noisy ones.

A sample is written (mean, half): runs whose mean has just that interval at the level of a claim, of ratios the
geometric one.
"""

import numpy as np
import pandas as pd
import pytest
import scheme_cases
from scipy import stats

from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.figures import (
    caps_fig1,
    caps_fig4,
    caps_fig8d,
    cdcps_fig6,
    dc2mtcp_pda,
    published_figures,
    repflow_table1,
)
from capsmodel.papers.figures._head_of_line import FORMS, SPREADS_S
from capsmodel.papers.figures._points import CONFIDENCE
from capsmodel.papers.measurements.head_of_line import FCT_PERCENTILES

JUDGES = {claim: judge for figure in published_figures().values() for claim, judge in figure.judges.items()}
RUNS = 10
AGREES, HOLDS, PART, DIFFERS, FAILS, DEPENDS, OPEN = (
    "agrees", "holds", "holds in part", "differs", "fails", "depends", "open",
)  # fmt: skip


def runs(mean, half):
    """Runs whose mean has the interval mean - half to mean + half."""
    step = half * (RUNS - 1) ** 0.5 / stats.t.ppf((1 + CONFIDENCE) / 2, RUNS - 1)
    return mean + step * np.array([1, -1] * (RUNS // 2))


def ratio_runs(mean, half):
    """Runs whose geometric mean has the interval mean - half to mean + half, or from 0.001 on."""
    low, high = np.log(max(mean - half, 0.001)), np.log(mean + half)
    return np.exp(runs((low + high) / 2, (high - low) / 2))


def test_the_samples_of_this_file_have_the_intervals_they_say():
    found = stats.ttest_1samp(runs(5, 2), 0).confidence_interval(CONFIDENCE)
    assert found == pytest.approx((3, 7))
    found = stats.ttest_1samp(np.log(ratio_runs(0.5, 0.2)), 0).confidence_interval(CONFIDENCE)
    assert np.exp(found) == pytest.approx((0.3, 0.7))


def beside_long_flows(columns, *, subject):
    """Runs with and without long flows, `subject` lower by samples in percent: at the preset, at all other spreads."""

    def frame(preset, *others):
        samples = (preset, *others, *(len(SPREADS_S) - 1 - len(others)) * (others[-1] if others else preset,))
        rows = [
            {"form": form, "spread_s": spread_s, "seed": seed}
            | dict.fromkeys(columns, ratio if count == subject else 1.0)
            for spread_s, (lower_pct, half_pct) in zip(SPREADS_S, samples, strict=True)
            for seed, ratio in enumerate(ratio_runs(1 - lower_pct / 100, half_pct / 100))
            for count, form in FORMS.items()
        ]
        return pd.DataFrame(rows)

    return frame


delay = beside_long_flows(["queueing_delay_s"], subject=0)
columns_of_fig2 = ["reordered_ratio", "fct_s", *FCT_PERCENTILES]
without_long = beside_long_flows(columns_of_fig2, subject=0)
with_long = beside_long_flows(["cwnd_packets"], subject=4)

# Directions: the claim fails only if they are wrong at every spread of start times.
DIRECTIONS = [
    (((-5, 1),), FAILS),
    (((-5, 1), (-5, 1), (-5, 1), (5, 1)), PART),
    (((-5, 1), (-5, 1), (-5, 1), (1, 2)), OPEN),
    (((1, 2), (-5, 1)), OPEN),
    (((1, 2), (5, 1)), DIFFERS),
]


def around(printed):
    """Samples around a printed size: those agree whose whole interval is within 10%."""
    near = 0.1 * printed
    return [
        (((printed, 1),), AGREES),
        (((printed, 1), (5, 1)), AGREES),  # the size is that of the preset
        (((5, 1), (printed, 1)), DIFFERS),
        (((printed - near + 1.1, 1),), AGREES),
        (((printed + near - 1.1, 1),), AGREES),
        (((printed - near - 1.5, 1),), DIFFERS),
        (((printed + near + 1.5, 1),), DIFFERS),
        (((printed - near, 1),), OPEN),
        (((printed + near, 1),), OPEN),
        (((printed, 0.9 * near),), AGREES),
        (((printed, 1.1 * near),), OPEN),
        (((printed, 2 * printed),), OPEN),
        *DIRECTIONS,
    ]


def more_than(size):
    near = [(((size + 1, 0.9),), HOLDS), (((size - 1.3, 0.9),), DIFFERS), (((size, 1),), OPEN)]
    return [*near, (((size + 1, 0.9), (5, 1)), HOLDS), (((5, 1), (size + 1, 0.9)), DIFFERS), *DIRECTIONS]


def path_rtts(blocked, free=((1.0, 0.0),)):
    """Durations of Fig. 4: a sample of runs for each path with and without a long flow."""
    rows = [
        {"form": form, "seed": seed, "part": part, "duration_s": value}
        for form, paths in ((caps_fig4.BLOCKED, blocked), (caps_fig4.FREE, free))
        for part, sample in enumerate(paths)
        for seed, value in enumerate(runs(*sample))
    ]
    return pd.DataFrame(rows)


def large_paths(*counts):
    """Forty paths in each run, of which so many have an RTT of ten, the others one."""
    rows = [
        {"form": caps_fig4.BLOCKED if path < 4 else caps_fig4.FREE, "seed": seed, "part": path,
         "duration_s": 10.0 if path < count else 1.0}
        for seed, count in enumerate(counts)
        for path in range(40)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def shares(values, half, **columns):
    """Rows with a share of decoded units, its interval, and a formula that gives the same."""
    found = np.asarray(values, dtype=float)
    ends = {"decode_low_prob": found - half, "decode_high_prob": found + half}
    return pd.DataFrame({**columns, "decode_prob": found, **ends, "formula_prob": found})


def over_repair_packets(*curves, half=0.001):
    """Shares of Fig. 6(c): a curve over r = 0, 1, 2, ... for each number of long flows from 1 on."""
    tables = [shares(curve, half, long_flow_paths=n, r=range(len(curve))) for n, curve in enumerate(curves, start=1)]
    return pd.concat(tables)


def over_unit(*values, half=0.001):
    return shares(values, half, k=range(1, len(values) + 1))


UNITS = (1, 20, 40, 64)
U, FALLS, RISES, FLAT_AT_END = (9, 4, 4, 9), (9, 6, 5, 2), (2, 5, 6, 9), (9, 5, 4, 4.5)


def window_delays(chosen, chosen_packets=FALLS, cost=FALLS, cost_packets=FALLS, *, half=0.3):
    """Delays of Fig. 8(d) over k for both rules of r and both readings of the delay."""
    forms = ((caps_fig8d.EQ4, chosen, chosen_packets), (caps_fig8d.COST, cost, cost_packets))
    return pd.concat([delays_over_formula(form, windows, packets, half) for form, windows, packets in forms])


def delays_over_formula(form, windows, packets, half, *, decoded=1.0, decoded_half=0.005):
    """Delays over a formula of 1 s, and shares over one of 1/2, counted in as many units as give the interval."""
    units = round((0.5 * stats.norm.isf(0.025) / (0.5 * decoded_half)) ** 2)
    table = {"form": form, "k": UNITS, "formula_delay_s": 1.0, "formula_prob": 0.5, "units": units}
    table["decode_prob"] = np.multiply(0.5, decoded)
    for name, values in (("window_delay", windows), ("packet_delay", packets)):
        ends = {"": values, "_low": np.subtract(values, half), "_high": np.add(values, half)}
        table |= {f"{name}{end}_s": them for end, them in ends.items()}
    return pd.DataFrame(table)


def ratios(delays, decoded=(1, 1, 1, 1), *, half=0.005):
    """Measured over formula for the delay to the last ACK and for p_S, at four k."""
    return delays_over_formula(caps_fig8d.EQ4, delays, (1, 1, 1, 1), half, decoded=decoded, decoded_half=half)


def bursts(*apart):
    """Periods of Fig. 19: a sample of relative distances for each rate, above and below in turn."""
    rows = [
        {"bursts_per_s": rate, "seed": seed, "rtt_average_s": 2.0, "rtt_smoothed_s": 2.0 * (1 + sign * value),
         "twice_average_prob": 0.1, "twice_smoothed_prob": 0.1 * (1 + sign * value)}
        for rate, sample in enumerate(apart)
        for seed, value in enumerate(runs(*sample))
        for sign in (1, -1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def table_1(key, column, sample, deep=None, *, drawn=runs):
    """Table I with a sample in a cell, and another one with deep buffers; its other cells are 1."""
    others = {"mean_fct_s": 1.0, "p99_fct_s": 1.0}
    tables = [
        pd.DataFrame({"scheme": name, "buffer_packets": buffers, **others}, index=range(RUNS))
        .assign(**({column: drawn(*them)} if other == key else {}))
        for buffers, them in ((50, sample), (1000, deep or sample))
        for other, (name, _) in repflow_table1._SCENARIOS.items()
    ]  # fmt: skip
    return pd.concat(tables)


def cells(key, column, printed, *, drawn=runs):
    """Samples around a cell of Table I: those agree whose whole interval is within 10%."""
    near = [
        ((printed, 0.09 * printed), AGREES),
        ((printed, 0.11 * printed), OPEN),
        ((1.05 * printed, 0.04 * printed), AGREES),
        ((0.95 * printed, 0.04 * printed), AGREES),
        ((1.12 * printed, 0.01 * printed), DIFFERS),
        ((0.88 * printed, 0.01 * printed), DIFFERS),
        ((1.1 * printed, 0.01 * printed), OPEN),
        ((3 * printed, 0.5 * printed), DIFFERS),
    ]
    return [(table_1(key, column, sample, drawn=drawn), word) for sample, word in near]


def lower_by(column, mean, half, deep=None):
    """Table I where replication lowers a column by a sample in percent."""
    found, deep_pct = (mean, half), deep or (mean, half)
    samples = ((1 - value / 100, width / 100) for value, width in (found, deep_pct))
    return table_1("repl", column, *samples, drawn=ratio_runs)


def over_half(column):
    return [
        (lower_by(column, 49, 1), AGREES),
        (lower_by(column, 46, 1), DIFFERS),
        (lower_by(column, 47.5, 1), OPEN),
        (lower_by(column, 50, 60), OPEN),
        (lower_by(column, -5, 1), FAILS),
        (lower_by(column, -5, 1, (5, 1)), PART),
        (lower_by(column, 2, 5, (-5, 1)), OPEN),
        (lower_by(column, -5, 1, (2, 5)), OPEN),
    ]


def received(four=(0.99, 0.001), *, three=0.0, dependent_decode=0.0, sent=6):
    """Sets of Fig. 6 of CDCPS: three and four packets received, both schemes."""
    value, half = four
    rows = [
        {"scheme": scheme, "sent_packets": sent, "received_packets": count, "decode_prob": prob,
         "decode_low_prob": prob - width, "decode_high_prob": prob + width,
         "independent_prob": prob - dependent_decode}
        for scheme in cdcps_fig6.SCHEMES.values()
        for count, prob, width in ((3, three, 0.0), (4, value, half))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def work(*points):
    """Share of coded packets and work left, in rows looked at; in row operations nothing is saved."""
    rows = [
        {"coded_original_ratio": ratio, "work_ratio": left, "form": dc2mtcp_pda.MEASURES["rows_examined"]}
        for ratio, left in points
    ]
    operations = dc2mtcp_pda.MEASURES["row_operations"]
    return pd.DataFrame([*rows, {"coded_original_ratio": 0.01, "work_ratio": 1.0, "form": operations}])


def closeness():
    inside, outside, unclear = (0.09, 0.006), (0.11, 0.006), (0.10, 0.01)
    return [
        (bursts((0.09, 0.009), (0.09, 0.009)), HOLDS),
        (bursts((0.09, 0.009), (0.11, 0.009)), OPEN),  # some inside, some not: two statements, each at half the level
        (bursts(inside, outside), PART),
        (bursts(outside, outside), FAILS),
        (bursts(unclear, unclear), OPEN),
        (bursts(inside, unclear), OPEN),
        (bursts(outside, unclear), OPEN),
        (bursts(inside, outside, unclear), PART),
    ]


def cases(frame, samples):
    return [(frame(*sample), word) for sample, word in samples]


CASES = {
    "caps-f1b-qdelay": cases(delay, around(80)),
    "caps-f2a-disorder": cases(without_long, more_than(10)),
    "caps-f2b-cwnd": cases(with_long, around(50)),
    "caps-f2c-fct": cases(without_long, more_than(50)),
    "caps-f4a-onoff": [(path_rtts([(2, 0)]), "not testable")],
    "caps-f4a-exist": [(path_rtts([(2, 0)]), "not testable")],
    "caps-f4b-rtt": [
        (path_rtts([(2.5, 0.4)]), HOLDS),
        (path_rtts([(1.5, 0.4)]), DIFFERS),
        (path_rtts([(2, 0.4)]), OPEN),
        (path_rtts([(1, 0.4)]), OPEN),
        (path_rtts([(0.5, 0.1)]), FAILS),
        (path_rtts([(0.9, 0), (9, 0)]), DIFFERS),  # far larger in the mean, but one of the paths is not
    ],
    "caps-f4b-pb": [
        (large_paths(4, 4, 4), AGREES),
        (large_paths(4, 4, 3), AGREES),  # 0.09, which 0.1 is within half a unit of its last digit
        (large_paths(7, 7), DIFFERS),
        (large_paths(1, 1), DIFFERS),
    ],
    "caps-f6c-sim": [
        (over_repair_packets((0.6, 0.7, 0.8), (0.3, 0.5, 0.6)), HOLDS),
        (over_repair_packets((0.6, 0.7, 0.8), (0.5, 0.4, 0.3)), PART),  # one curve falls
        (over_repair_packets((0.3, 0.7, 0.8), (0.6, 0.7, 0.9)), PART),  # more long flows decode more
        (over_repair_packets((0.5, 0.4, 0.3), (0.6, 0.5, 0.4)), FAILS),
        (over_repair_packets((0.6, 0.7, 0.8), (0.3, 0.5, 0.6), half=0.3), OPEN),
        (over_repair_packets((0.6, 0.7, 0.8), (0.5995, 0.7, 0.8)), OPEN),  # fewer or more: within noise
        (over_repair_packets((0.6, 0.55, 0.5, 0.45, 0.61), (0.3, 0.4, 0.5, 0.6, 0.7)), PART),  # ends alone rise
    ],
    "caps-f8c-ps": [
        (over_unit(0.9, 0.8, 0.7, 0.6), HOLDS),
        (over_unit(0.9, 0.7, 0.8, 0.6), PART),
        (over_unit(0.9, 0.75, 0.7505, 0.6), OPEN),
        (over_unit(0.6, 0.7, 0.8, 0.9), FAILS),
        (over_unit(0.9, 0.8, 0.7, 0.6, half=0.3), OPEN),
        (over_unit(0.9, 0.85, 0.8995, 0.8993), OPEN),  # rises on the way; whether it falls at all is undecided
        (over_unit(0.7, 0.8, 0.85, 0.9, 0.69), FAILS),  # the ends fall, the trend rises
    ],
    "caps-f8d-dw": [
        (window_delays(U), HOLDS),
        (window_delays(FALLS, U), DEPENDS),
        (window_delays(FALLS, FALLS, FALLS, U), DEPENDS),
        (window_delays(RISES, cost=U), DEPENDS),
        (window_delays(FALLS), FAILS),
        (window_delays(RISES), FAILS),
        (window_delays(FLAT_AT_END), OPEN),
        (window_delays(FLAT_AT_END, U, U, U), OPEN),
        (window_delays(FALLS, FLAT_AT_END), OPEN),
        (window_delays(U, half=9), OPEN),
    ],
    "caps-f8cd-match": [
        (ratios((0.91, 1, 1, 1.09), (0.91, 1, 1, 1.09)), HOLDS),
        (ratios((0.89, 1, 1, 1)), PART),
        (ratios((1, 1, 1, 1), (1, 1, 1, 1.11)), PART),
        (ratios((1.2, 1.2, 1.2, 1.2)), PART),
        (ratios((1.2, 1.2, 1.2, 1.2), (0.8, 0.8, 0.8, 0.8)), FAILS),
        (ratios((1, 1, 1, 1.1)), OPEN),
        (ratios((1, 1, 1, 1), (0.9, 1, 1, 1)), OPEN),
        (ratios((1, 1, 1, 1), half=0.2), OPEN),
        (ratios((0.892, 1, 1, 1)), OPEN),  # below 0.9 alone, but not as one of eight
        (ratios((0.892,) * 4, (0.892,) * 4), FAILS),  # each alone
        (ratios((1, 1, 1, 1), (1, 1, 1, 1.105)), OPEN),
    ],
    "caps-f19-rtt": closeness(),
    "caps-f19-pb": closeness(),
    "cdcps-f6": [
        (received((0.95, 0.04)), HOLDS),
        (received((0.90, 0.01)), OPEN),
        (received((0.85, 0.04)), DIFFERS),
        (received(three=0.1), FAILS),
        (received(dependent_decode=0.1), FAILS),
        (received(sent=7), FAILS),
    ],
    "dc2mtcp-s5-pda": [
        (work((0.01, 0.02), (0.04, 0.0549)), HOLDS),
        (work((0.01, 0.02), (0.04, 0.0551)), PART),
        (work((0.01, 0.06), (0.04, 0.0551)), FAILS),
        (work((0.04, 0.05), (0.05, 0.5)), HOLDS),  # nothing is said of 0.05 and more
    ],
    "dc2mtcp-s1-eps": [
        (work((0.01, 0.01), (0.04, 0.03)), HOLDS),
        (work((0.01, 0.0101), (0.04, 0.03)), PART),
        (work((0.01, 0.0101), (0.04, 0.05)), FAILS),
    ],
    "repflow-t1-none-mean": cells("none", "mean_fct_s", 0.0135),
    "repflow-t1-none-p99": cells("none", "p99_fct_s", 0.0145),
    "repflow-t1-long-mean": cells("long", "mean_fct_s", 0.175),
    "repflow-t1-long-p99": cells("long", "p99_fct_s", 0.49),
    "repflow-t1-repl-mean": cells("repl", "mean_fct_s", 0.105),
    "repflow-t1-repl-p99": cells("repl", "p99_fct_s", 0.212),
    "repflow-t1-10x": [
        *cells("long", "mean_fct_s", 0.175 / 0.0135, drawn=ratio_runs),
        (table_1("long", "mean_fct_s", (10, 0.1)), DIFFERS),
        (table_1("long", "mean_fct_s", (0.5, 0.1)), FAILS),
        (table_1("long", "mean_fct_s", (1, 0.1)), OPEN),
    ],
    "repflow-t1-50m": over_half("mean_fct_s"),
    "repflow-t1-50t": over_half("p99_fct_s"),
    **scheme_cases.CASES,
}

# What these judge has no noise: counts of paths and rows, what never happens, and what is an input.
EXACT = {"caps-f4a-onoff", "caps-f4a-exist", "caps-f4b-pb", "dc2mtcp-s5-pda", "dc2mtcp-s1-eps"}


def test_every_judge_is_tested_and_every_noisy_one_with_too_few_runs():
    assert CASES.keys() == JUDGES.keys()
    assert {claim for claim, tables in CASES.items() if OPEN not in {word for _, word in tables}} == EXACT


@pytest.mark.parametrize(("claim", "number"), [(name, i) for name, tables in CASES.items() for i in range(len(tables))])
def test_a_judge_at_the_edges_of_its_rule(claim, number):
    frame, word = CASES[claim][number]
    verdict = JUDGES[claim](read_claims()[claim], frame)
    assert verdict.verdict == word
    assert verdict.id == claim
    assert (" do not decide: " in verdict.reason) == (word == OPEN)


def test_the_reason_of_an_open_claim_counts_the_runs():
    """The value is the geometric mean of ratios from 0.05 to 0.35, the middle of their logarithms."""
    frame = delay((80, 15))
    verdict = caps_fig1.judge_delay(read_claims()["caps-f1b-qdelay"], frame)
    assert verdict.reason.startswith(f"{RUNS} runs do not decide: ")
    assert verdict.value == pytest.approx((100 * (1 - (0.05 * 0.35) ** 0.5),))
    assert verdict.interval == pytest.approx((65, 95))


def test_the_reason_of_a_cell_of_table_1_names_what_deeper_buffers_give():
    frame = table_1("long", "mean_fct_s", (0.192, 0.01), deep=(0.159, 0.01))
    reason = JUDGES["repflow-t1-long-mean"](read_claims()["repflow-t1-long-mean"], frame).reason
    assert "buffers are not stated" in reason
    assert "0.192 s with 50 packets a port, 0.159 s with 1000" in reason
