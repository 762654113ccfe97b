"""Made-up tables for the judges that hold schemes against each other (CAPS Fig. 26 and 28), with the word expected.

All schemes have the same values but those named: a sample (mean, half) are runs whose mean has just that interval at
the level of a claim, of the logarithm where a ratio is judged.
"""

import numpy as np
import pandas as pd
from scipy import stats

from capsmodel.papers.figures import _caps_schemes, caps_fig26, caps_fig28
from capsmodel.papers.figures._points import CONFIDENCE

RUNS = 10
HOLDS, PART, FAILS, OPEN = "holds", "holds in part", "fails", "open"
SENDERS = [{"buffer_packets": packets, "flows": flows} for packets in (256, 100) for flows in (20, 60, 100, 140, 180)]
BESIDE = [{"flows": flows} for flows in (20, 60, 120, 180)]


def runs(mean, half):
    """Runs whose mean has the interval mean - half to mean + half."""
    step = half * (RUNS - 1) ** 0.5 / stats.t.ppf((1 + CONFIDENCE) / 2, RUNS - 1)
    return mean + step * np.array([1, -1] * (RUNS // 2))


def in_turn(means, half):
    """Samples of which the first has its large runs where the others have their small ones."""
    first, *others = (runs(mean, half) for mean in means)
    return [np.roll(first, 1), *others]


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
        (lost(0.3), HOLDS),
        (lost(0.3, rps=0.1), PART),
        (lost(0.1), FAILS),
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
        (rising(0.1, 0.2, 0.3, 0.4), HOLDS),
        (rising(0.4, 0.3, 0.2, 0.1), PART),
        (rising(0.1, 0.2, 0.3, 0.4, half=0.4), OPEN),
        (all_falling(), FAILS),
    ]


CASES = {
    "caps-f26-buffer": small_buffers(),
    "caps-f28a-n": losses(),
}
