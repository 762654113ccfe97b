"""What every scheme does on four fabrics, as hashes of the packet trace by field; those that mark, at NICs too.

``python tests/golden/frozen_traces.py`` freezes the traces anew after a change that is meant to change them.
"""

import hashlib
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np

from capsim import scheme, schemes

FILE = Path(__file__).with_name("traces.json")


def digests(records):
    """Return the number of lines and a hash of each field of a packet trace, and of the times of its flows."""
    trace, flows = records.trace, records.flows
    found = {"lines": len(trace)}
    found |= {name: digest(trace[name]) for name in trace.dtype.names}
    return found | {f"flow_{name}": digest(flows[name]) for name in ("received_ps", "acked_ps")}


def digest(column):
    """Return the first 16 hexadecimal digits of the SHA-256 of a column of whole numbers."""
    return hashlib.sha256(np.ascontiguousarray(column, np.int64).tobytes()).hexdigest()[:16]


@cache
def frozen():
    """Return what the file holds: by fabric, then scheme."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def frozen_schemes():
    """Return all schemes by name, and those whose queues mark with marks at hosts' own ports too."""
    found = {name: scheme(name) for name in schemes()}
    marking = {name: one for name, one in found.items() if hasattr(one.queue.params, "at_nics")}
    at_nics = {f"{name}, at NICs": one.with_params(queue={"at_nics": True}) for name, one in marking.items()}
    return found | at_nics


def main():
    """Write the file."""
    from support.engine_setups import BUSY, setup_of

    from capsim.engines import run

    found = {
        fabric: {name: digests(run(setup_of(kind, flows, one))) for name, one in frozen_schemes().items()}
        for fabric, (kind, flows) in BUSY.items()
    }
    FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(FILE.parents[1]))
    main()
