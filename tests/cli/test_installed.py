"""Contract: the import stays light, and the built wheel works outside the checkout, data files included."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from capsmodel.cli import app, main
from capsmodel.cli._commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ["numba", "pandas", "pyarrow", "simpy", "sympy", "matplotlib", "msgspec", "joblib", "rich", "cyclopts",
         "scipy.stats", "scipy.optimize", "scipy.integrate"]  # fmt: skip


def python(code, *flags, cwd=None, **environment):
    """Return what a fresh interpreter prints."""
    command = [sys.executable, *flags, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd, env=os.environ | environment)
    return done.stdout.strip()


def loaded_by(code):
    """Return which of the heavy packages a fresh interpreter has loaded after some code, and what that printed."""
    *printed, loaded = python(f"import sys\n{code}\nprint([m for m in {HEAVY!r} if m in sys.modules])").split("\n")
    return loaded, printed


def test_import_loads_nothing_heavy():
    """Names are imported when they are used, and the simulator needs no distributions of SciPy."""
    assert loaded_by("import capsmodel, capsim")[0] == "[]"
    assert "decode_prob" in loaded_by("import capsmodel; print(dir(capsmodel))")[1][0]
    assert loaded_by("from capsim import scheme, schemes, LeafSpine; schemes()")[0] == "['msgspec']"
    used = loaded_by("from capsim import simulate; from capsmodel import decode_prob")[0]
    assert not [name for name in ("scipy.stats", "joblib", "rich", "numba") if repr(name) in used]


def test_the_list_of_schemes_needs_no_simulator():
    call = "import contextlib\nfrom capsmodel.cli import main\nwith contextlib.suppress(SystemExit): main(['schemes'])"
    assert loaded_by(call)[0] == "['msgspec', 'rich', 'cyclopts']"


def test_python_m_capsmodel_is_the_command_line():
    code = (
        "import runpy, sys; sys.argv = ['capsmodel', '--version']; runpy.run_module('capsmodel', run_name='__main__')"
    )
    assert python(code) == "0.1.0"


def test_wheel_works_outside_the_checkout(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import capsmodel, capsmodel.papers, capsim; print(capsmodel.__file__);"
        "assert capsmodel.load_workload('websearch').mean_bytes == 1711250.0;"
        "assert len(capsmodel.workload_names()) >= 20; assert len(capsmodel.papers.equations()) > 50;"
        "from capsmodel.datafiles import data_path; from capsmodel.papers.figures import published_figure;"
        "assert len(published_figure('cdcps-fig6').data(results=data_path('results'))) == 12;"
        "from capsmodel.cli.shared.pages import template; page = template('gallery.html');"
        "assert '</html>' in page(title='', made='', reading='',"
        "papers=[], words={}, version='')"
    )
    paths = os.pathsep.join([str(tmp_path / "site"), sysconfig.get_path("purelib")])
    code += (
        "; import sys; from importlib.metadata import distribution; sys.argv = ['capsmodel', '--version'];"
        "[command] = distribution('capsmodel').entry_points.select(group='console_scripts'); command.load()()"
    )
    # Without site (-S) the editable install of the checkout is not found, so only the wheel can answer.
    place, version = python(code, "-S", cwd=tmp_path, PYTHONPATH=paths).split("\n")
    assert place.startswith(str(tmp_path))
    assert version == "0.1.0"


def test_help_of_each_command_is_listed_and_resolves(capsys):
    for command in COMMANDS:
        with pytest.raises(SystemExit) as stop:
            main([command.name, "--help"])
        assert stop.value.code in (0, None)
        printed = capsys.readouterr().out
        assert printed.startswith(f"Usage: capsmodel {command.name}")
        assert all(f"  $ capsmodel {example}" in printed.splitlines() for example in command.examples)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_their_options(shell):
    script = app.generate_completion(shell=shell)
    assert all(command.name in script for command in COMMANDS)
    for option in ("--blocked-paths", "--probe-period", "--shard", "--packet-size"):
        assert option in script


@pytest.mark.parametrize("example", [example for command in COMMANDS for example in command.examples])
def test_every_example_of_the_help_is_a_command_with_its_options(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments, _ = app.parse_args(example.split(), exit_on_error=False, print_error=False)
    assert callable(function)
    assert arguments.args or arguments.kwargs or len(example.split()) == 1
