"""Made-up tables for the judges that hold schemes against each other (CAPS Fig. 17, 26, 28), with the word expected.

All schemes have the same values but those named: a sample (mean, half) are runs whose mean has just that 95% interval,
of the logarithm where a ratio is judged.
"""

import numpy as np
import pandas as pd
from scipy import stats

from capsmodel.papers.figures import _caps_schemes, caps_fig17, caps_fig26, caps_fig28

RUNS = 10
REPRODUCED, DIFFERS, REFUTED, OPEN = "reproduced", "differs in size", "refuted", "open"
WEB = [{"form": caps_fig17.WEB, "load": load} for load in (0.3, 0.6, 0.8)]
DATA = [{"form": caps_fig17.DATA, "load": 0.6}]
SENDERS = [{"buffer_packets": packets, "flows": flows} for packets in (256, 100) for flows in (20, 60, 100, 140, 180)]
BESIDE = [{"flows": flows} for flows in (20, 60, 120, 180)]


def runs(mean, half):
    """Runs whose mean has the 95% interval mean - half to mean + half."""
    step = half * (RUNS - 1) ** 0.5 / stats.t.ppf(0.975, RUNS - 1)
    return mean + step * np.array([1, -1] * (RUNS // 2))


def in_turn(means, half):
    """Samples of which the first has its large runs where the others have their small ones."""
    first, *others = (runs(mean, half) for mean in means)
    return [np.roll(first, 1), *others]


def times(ratio, half=0.01):
    """Runs whose geometric mean is a ratio, with an interval of so much in the logarithm."""
    return np.exp(runs(np.log(ratio), half))


def table(places, columns, schemes, samples):
    """Rows of all schemes, seeds and places, 1 but for samples by (scheme, column), one for each place."""
    rows = [
        place
        | {"scheme": scheme, "seed": seed}
        | {column: samples[scheme, column][at][seed] if (scheme, column) in samples else 1.0 for column in columns}
        for at, place in enumerate(places)
        for scheme in schemes
        for seed in range(RUNS)
    ]
    return pd.DataFrame(rows)


def leaf_spine(column, *, extra=(), **samples):
    """Table of Fig. 17: for each scheme named a sample for the three loads of web search and one for data mining."""
    schemes = (*caps_fig17.SCHEMES, *_caps_schemes.READINGS, *extra)
    return table(WEB + DATA, caps_fig17.COLUMNS.values(), schemes, {(name, column): x for name, x in samples.items()})


def everywhere(column, name, *ratios, half=0.01, **more):
    """Table of Fig. 17 with these ratios of a scheme over all others, place by place; the last one repeats."""
    four = (*ratios, *(4 - len(ratios)) * ratios[-1:])
    return leaf_spine(column, **{name: [times(ratio, half) for ratio in four]}, **more)


def headline():
    def lower_by(**samples):
        fcts = {name: [times(1 / (1 - one / 100), 0.001) for one in percents] for name, percents in samples.items()}
        return leaf_spine("mean_fct_s", **fcts)

    inside = (29, 50, 73, 50)
    return [
        (lower_by(ecmp=inside, rps=inside, repflow=inside), OPEN),  # Presto
        (lower_by(ecmp=inside, rps=(28, 50, 50, 50), repflow=inside), DIFFERS),
        (lower_by(ecmp=inside, rps=(50, 50, 50, 74), repflow=inside), DIFFERS),
        (lower_by(ecmp=(-5,) * 4, rps=(-5,) * 4, repflow=(-5,) * 4), OPEN),
    ]


def best(column):
    """CAPS below all baselines: nothing but a failure decides it while Presto is missing."""
    return [
        (everywhere(column, "caps", 0.9), OPEN),
        (everywhere(column, "caps", 0.9, rps=4 * [times(0.8)]), DIFFERS),
        (everywhere(column, "caps", 0.9, rps=4 * [times(0.9, 0.2)]), OPEN),
        (everywhere(column, "caps", 1.1), OPEN),
    ]


def lower(column, name):
    return [
        (everywhere(column, name, 0.98), REPRODUCED),
        (everywhere(column, name, 1.02), REFUTED),
        (everywhere(column, name, 1, half=0.1), OPEN),
        (everywhere(column, name, 1.011), REFUTED),
    ]


def highest():
    column = "throughput_bps"
    return [
        (everywhere(column, "rps", 1.05), OPEN),  # Freeway, Presto
        (everywhere(column, "rps", 1.05, ecmp=4 * [times(1.2)]), DIFFERS),
        (everywhere(column, "rps", 0.9), OPEN),
    ]


def well_above():
    column = "throughput_bps"
    return [
        (everywhere(column, "caps", 1.15), OPEN),  # Freeway
        (everywhere(column, "caps", 1.05), DIFFERS),
        (everywhere(column, "caps", 0.95), OPEN),
    ]


def close(column):
    return [
        (everywhere(column, "caps_dark", 0.92), REPRODUCED),
        (everywhere(column, "caps_dark", 1.08), REPRODUCED),
        (everywhere(column, "caps_dark", 1.13), REFUTED),
        (everywhere(column, "caps_dark", 0.88), REFUTED),
        (everywhere(column, "caps_dark", 1, half=0.2), OPEN),
    ]


def workloads():
    def faster(*ratios, half=0.01):
        samples = zip((*caps_fig17.SCHEMES, "caps_dark"), ratios, strict=True)
        same = 3 * [np.full(RUNS, 1.0)]
        return leaf_spine("mean_fct_s", **{name: [*same, times(ratio, half)] for name, ratio in samples})

    count = len(caps_fig17.SCHEMES) + 1
    return [
        (faster(*count * [0.9]), OPEN),  # Presto, Freeway
        (faster(*(count - 1) * [0.9], 1.1), DIFFERS),
        (faster(*count * [0.9], half=0.2), OPEN),
        (faster(*count * [1.1]), OPEN),
    ]


def small_buffers():
    def lost(small, half=0.01, **more):
        columns = (*caps_fig26.COLUMNS, "repair_ratio", "lost_ratio")
        values = {name: small for name in caps_fig26.SCHEMES} | more
        samples = {
            (name, "lost_ratio"): [runs(0.2 if place["buffer_packets"] == 256 else value, half) for place in SENDERS]
            for name, value in values.items()
        }
        # Rolled, so that the runs with both buffers are not alike.
        for key, them in samples.items():
            samples[key] = [one if at < 5 else np.roll(one, 1) for at, one in enumerate(them)]
        return table(SENDERS, columns, (*caps_fig26.SCHEMES, *_caps_schemes.READINGS), samples)

    return [
        (lost(0.3), REPRODUCED),
        (lost(0.3, rps=0.1), DIFFERS),
        (lost(0.1), REFUTED),
        (lost(0.2), OPEN),
    ]


def losses():
    def rising(*values, scheme="caps", half=0.001):
        flat = {name: [runs(0.01 * at, 0.001) for at in range(1, 5)] for name in caps_fig28.SCHEMES}
        found = flat | {scheme: in_turn(values, half)}
        return table(
            BESIDE, caps_fig28.COLUMNS, caps_fig28.SCHEMES, {(name, "lost_ratio"): x for name, x in found.items()}
        )

    def all_falling():
        down = [runs(0.01 * at, 0.001) for at in range(4, 0, -1)]
        falling = {(one, "lost_ratio"): down for one in caps_fig28.SCHEMES}
        return table(BESIDE, caps_fig28.COLUMNS, caps_fig28.SCHEMES, falling)

    return [
        (rising(0.1, 0.2, 0.3, 0.4), REPRODUCED),
        (rising(0.4, 0.3, 0.2, 0.1), DIFFERS),
        (rising(0.1, 0.2, 0.3, 0.4, half=0.4), OPEN),
        (all_falling(), REFUTED),
    ]


FCT, TAIL, LONG = "mean_fct_s", "p99_fct_s", "throughput_bps"


CASES = {
    "caps-abs-afct": headline(),
    **{f"caps-f17{panel}-best": best(column) for panel, column in (("d", FCT), ("e", TAIL))},
    **{f"caps-f17{panel}-rpspq": lower(of, "rps_pq") for panel, of in zip("def", (FCT, TAIL, LONG), strict=True)},
    "caps-f17f-rps": highest(),
    "caps-f17f-caps": well_above(),
    **{f"caps-f17{panel}-dark": close(column) for panel, column in zip("def", (FCT, TAIL, LONG), strict=True)},
    "caps-f17-dm-ws": workloads(),
    "caps-f26-buffer": small_buffers(),
    "caps-f28a-n": losses(),
}
