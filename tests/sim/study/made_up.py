"""A small study of RepFlow against TCP whose runs are made up.

The mean completion time of a scheme is a known one times a factor of the seed.
"""

import numpy as np
import pyarrow as pa

from capsim.study.campaign import advance
from capsim.study.claims.design import Design
from capsim.study.file import Source
from capsmodel.experiments import sweep
from capsmodel.experiments.manifest import canonical_json

TIMER, COPIES = "transport.min_rto_s = 0.01", "sharing.abort_losers = true"
TABLES = {
    "title": "RepFlow against TCP",
    "seeds": [8, 16],
    "axes": {"scheme": {"TCP": "ecmp", "RepFlow": "repflow"}, "load": [0.2, 0.5]},
    "unstated": {
        "transport.min_rto_s": {"values": [0.2, 0.01], "why": "Not stated."},
        "sharing.abort_losers": [False, True],
    },
    "scenario": {
        "end_s": 100.0,
        "fabric": {"kind": "dumbbell", "hosts_per_side": 2},
        "traffic": [{"kind": "poisson", "workload": "websearch", "load": "{load}", "flows": 10}],
    },
    "measure": {"name": "experiment-run"},
    "panel": [
        {
            "metric": "mean_fct_short_s",
            "claims": [
                {"id": "gain", "subject": "RepFlow", "baseline": "TCP", "is": "lower", "printed": "40..45 %"},
                {
                    "id": "tcp",
                    "at": {"scheme": "TCP"},
                    "subject": {"load": 0.5},
                    "baseline": {"load": 0.2},
                    "is": "higher",
                },
            ],
        }
    ],
}


def design(*, name="study", **changed):
    return Design(Source.of_tables(TABLES | changed, name=name))


class MadeUp:
    """An executor that makes up the rows of runs: `ratio(scheme, scenario, seed)` times a factor of spread `spread`.

    The parameter `unused` of the transport changes nothing. Rows of one sweep are one part, which costs a file in place
    of one for each run.
    """

    def __init__(self, ratio, spread=0.001, cpu_s=1.0, columns=(), unused=""):
        self.ratio, self.spread, self.cpu_s, self.columns, self.unused = ratio, spread, cpu_s, columns, unused
        self.ran = []

    def __call__(self, function, batches):
        yield [self.outcome(task) for batch in batches for task in batch]

    def outcome(self, task):
        self.ran.append(task.id)
        scenario, seed = task.payload["scenario"], task.payload["seed"]
        scheme = scenario.get("scheme", "ecmp")
        set_ = scenario.get("params", {})
        transport = set_.get("transport", {})
        params = set_ | {"transport": {one: transport[one] for one in transport if one != self.unused}}
        words = [seed, *canonical_json(scenario | {"params": params}).encode()]
        own = np.random.default_rng(np.array(words, np.uint32))  # a list is taken number by number, which takes 2 ms
        value = self.ratio(scheme, scenario, seed) * np.exp(own.normal(0, self.spread)) * scenario["traffic"][0]["load"]
        row = {name: [value] for name in self.columns}
        row |= {"task_id": [task.id], "seed": [seed], "mean_fct_short_s": [value]}
        row |= {
            "p99_fct_short_s": [(2 + seed) * value],
            "timeouts_short": [value],
            "cpu_s": [self.cpu_s],
            "unfinished_flows": [0],
        }
        record = {
            "id": task.id,
            "measurement": "experiment-run",
            "revision": 1,
            "payload": task.payload,
            "cpu_s": self.cpu_s,
        }
        return sweep._Outcome(pa.table(row), record)


def halved(scheme, scenario, seed):
    return 0.57 if scheme == "repflow" else 1.0


def slower(scheme, scenario, seed):
    return 1.2 if scheme == "repflow" else 1.0


def run(folder, ratio, study=None, **options):
    made_up = MadeUp(ratio, options.pop("spread", 0.001), options.pop("cpu_s", 1.0))
    return advance([study or design()], folder, executor=made_up, **options), made_up.ran
