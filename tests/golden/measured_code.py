"""The code that every measurement of the package depended on when its revision was last confirmed, and the inputs.

``python tests/golden/measured_code.py`` writes ``measured_code.json`` anew. Do so when `test_measured_code` fails and
the rows of the measurements are what they were, which the other tests of this folder say; where they are not, raise the
revision of the measurement first and run ``make ledger``.

Inputs are the presets and the tables of flow sizes. Tasks name them and do not hold them, so a task whose preset was
edited keeps its id and its old rows.
"""

import json
import tomllib
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from capsmodel.experiments.measurement import Measurement
from capsmodel.experiments.source import source_digests
from capsmodel.papers import measurements as folder

FILE = Path(__file__).with_suffix(".json")
PROJECT = FILE.parents[2]
INPUTS = (*sorted(PROJECT.glob("sim/capsim/presets/*.toml")), *sorted(PROJECT.glob("data/workloads/*.csv")))


def measuring_functions():
    """Return every measuring function of the package by the name of its measurement."""
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(folder.__path__)]
    functions = [value for module in modules for value in vars(module).values() if hasattr(value, "measurement")]
    found = {}
    for function in functions:
        assert isinstance(function.measurement, Measurement)
        assert found.setdefault(function.measurement.name, function) is function, f"{function.measurement.name} is two"
    return dict(sorted(found.items()))


def inputs_of_today():
    """Return the digest of what each preset and each table of flow sizes says, by its path in the project."""
    return {path.relative_to(PROJECT).as_posix(): _digest(path) for path in INPUTS}


def _digest(path):
    text = path.read_text()
    said = json.dumps(tomllib.loads(text)) if path.suffix == ".toml" else text  # comments of a preset do not count
    return sha256(said.encode()).hexdigest()[:16]


def code_of_today():
    """Return revision and modules of each measurement, the digest of each module, and those of the inputs."""
    digests = {name: source_digests(function) for name, function in measuring_functions().items()}
    modules = {module: digest[:16] for found in digests.values() for module, digest in found.items()}
    revisions = {name: function.measurement.revision for name, function in measuring_functions().items()}
    return {"revisions": revisions, "modules": dict(sorted(modules.items())), "inputs": inputs_of_today()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(code_of_today(), indent=1) + "\n")
