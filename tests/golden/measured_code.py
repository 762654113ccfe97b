"""The code that every measurement of the package depended on when its revision was last confirmed.

``python tests/golden/measured_code.py`` writes ``measured_code.json`` anew. Do so when `test_measured_code` fails and
the rows of the measurements are what they were, which the other tests of this folder say; where they are not, raise the
revision of the measurement first and run ``make ledger``.
"""

import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from capsmodel.experiments.measurement import Measurement
from capsmodel.experiments.source import source_digests
from capsmodel.papers import measurements as folder

FILE = Path(__file__).with_suffix(".json")


def measuring_functions():
    """Return every measuring function of the package by the name of its measurement."""
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(folder.__path__)]
    functions = [value for module in modules for value in vars(module).values() if hasattr(value, "measurement")]
    found = {}
    for function in functions:
        assert isinstance(function.measurement, Measurement)
        assert found.setdefault(function.measurement.name, function) is function, f"{function.measurement.name} is two"
    return dict(sorted(found.items()))


def code_of_today():
    """Return revision and modules of each measurement, and the digest of each module."""
    digests = {name: source_digests(function) for name, function in measuring_functions().items()}
    modules = {module: digest[:16] for found in digests.values() for module, digest in found.items()}
    revisions = {name: function.measurement.revision for name, function in measuring_functions().items()}
    return {"revisions": revisions, "modules": dict(sorted(modules.items()))}


if __name__ == "__main__":
    FILE.write_text(json.dumps(code_of_today(), indent=1) + "\n")
