"""RepFlow Table I: short flows beside one long flow, sent once and twice over two paths.

Not stated: how far apart short flows start, buffers, packet sizes, the initial window, whether a completion time
holds the handshake, how many flows there are, and the replica's start. Chosen: flows start as a Poisson process half a
second apart on average, so that one rarely meets the one before it; 50 packets at every port (Section VI), hosts
included, as Mininet's links have; packets of 1500 B, an initial window of ten and a least timeout of 200 ms as in
Linux of that time; handshake included, until the receiver has all bytes; 1000 flows in each of ten runs; both copies
start together. Each of the four links of a path has 1 ms, as the caption says.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel._paper_index import Claim
from capsmodel.experiments.figures import _drawing as drawing
from capsmodel.experiments.published_repflow import cell
from capsmodel.experiments.statistics import MeanInterval, mean_interval
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.verdicts import Verdict, VerdictWord, reading_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Name in the claims, scheme of the table, and setting.
_SCENARIOS = {
    "none": ("without a long flow", {"long_flow": False, "copies": 1}),
    "long": ("with a long flow", {"long_flow": True, "copies": 1}),
    "repl": ("with a long flow and replication", {"long_flow": True, "copies": 2}),
}
_COLUMNS = {"mean": "mean_fct_s", "p99": "p99_fct_s"}
