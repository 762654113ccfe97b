"""Contract: the import stays light, and the built wheel works outside the checkout, data files included."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import built_wheel
import pytest

from capsmodel.cli import app, main
from capsmodel.cli._commands import COMMANDS
from capsmodel.papers.studies import published_studies

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ["numba", "pandas", "pyarrow", "simpy", "sympy", "matplotlib", "msgspec", "joblib", "rich", "cyclopts",
         "scipy.stats", "scipy.optimize", "scipy.integrate"]  # fmt: skip


def python(code, *flags, cwd=None, **environment):
    """Return what a fresh interpreter prints."""
    command = [sys.executable, *flags, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd, env=os.environ | environment)
    return done.stdout.strip()


def loaded_by(*steps):
    """Return which of the heavy packages a fresh interpreter has loaded after each of some steps."""
    loaded = f"print([m for m in {HEAVY!r} if m in sys.modules])"
    return python("\n".join(["import sys", *(f"{step}\n{loaded}" for step in steps)])).split("\n")


def test_import_loads_nothing_heavy():
    """Names are imported when they are used, and the simulator needs no distributions of SciPy."""
    packages, one, all_of_them, used = loaded_by(
        "import capsmodel, capsim; assert 'decode_prob' in dir(capsmodel)",
        "from capsim import scheme; repr(scheme('caps'))",
        "from capsim import schemes, LeafSpine; schemes()",
        "from capsim import simulate; from capsmodel import decode_prob",
    )
    assert packages == "[]"
    assert one == all_of_them == "['msgspec']"
    assert not [name for name in ("scipy.stats", "joblib", "rich", "numba") if repr(name) in used]


@pytest.mark.agreement
@pytest.mark.parametrize("words", [["schemes"], ["predict", "--profile", "100g", "--schemes", "uet,dctcp"]])
def test_neither_the_list_of_schemes_nor_a_prediction_needs_engines_and_tables(words):
    call = f"import contextlib\nfrom capsmodel.cli import main\nwith contextlib.suppress(SystemExit): main({words})"
    assert loaded_by(call)[-1] == "['msgspec', 'rich', 'cyclopts']"


def test_python_m_capsmodel_is_the_command_line():
    code = (
        "import runpy, sys; sys.argv = ['capsmodel', '--version']; runpy.run_module('capsmodel', run_name='__main__')"
    )
    assert python(code) == "0.1.0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return a wheel of the checkout."""
    return built_wheel.build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel):
    """Return the folder of what the wheel installs, and the environment in which only it is found."""
    site = wheel.parent / "site"
    built_wheel.unpack(wheel, site)
    return wheel.parent, built_wheel.environment(site)


def command(installed, *words):
    """Return how a command of the wheel ends, in a folder of its own."""
    folder, environment = installed
    line = [sys.executable, "-S", "-m", "capsmodel", *words]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, env=environment, check=False)


@pytest.mark.agreement
def test_wheel_works_outside_the_checkout(installed):
    code = (
        "import capsmodel, capsmodel.papers, capsim; print(capsmodel.__file__);"
        "assert capsmodel.load_workload('websearch').mean_bytes == 1711250.0;"
        "assert len(capsmodel.workload_names()) >= 20; assert len(capsmodel.papers.equations()) > 50;"
        "from capsmodel.papers.studies import published_studies;"
        f"assert len(published_studies()) == {len(published_studies())};"
        "from capsmodel.cli.shared.pages import template; page = template('gallery.html');"
        "assert '</html>' in page(title='', made='', reading='',"
        "papers=[], verdicts={}, version='')"
    )
    code += (
        "; import sys; from importlib.metadata import distribution; sys.argv = ['capsmodel', '--version'];"
        "[command] = distribution('capsmodel').entry_points.select(group='console_scripts'); command.load()()"
    )
    folder, environment = installed
    place, version = python(code, "-S", cwd=folder, **environment).split("\n")
    assert place.startswith(str(folder))
    assert version == "0.1.0"


@pytest.mark.agreement
def test_a_wheel_has_the_studies_and_no_rows_of_runs(wheel):
    assert wheel.stat().st_size < 3e6
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith(".parquet") or "_data/results" in name]
    studies = {path.name for path in (ROOT / "data/papers/studies").rglob("*.toml")}
    assert studies <= {name.rpartition("/")[2] for name in names}


@pytest.mark.agreement
def test_a_source_distribution_has_what_a_packager_and_a_reader_need(tmp_path):
    with tarfile.open(built_wheel.build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CHANGELOG.md", "Makefile", "hatch_build.py", "tests/conftest.py", "data/papers/verdicts.csv"} <= names
    assert {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")} <= names


@pytest.mark.agreement
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["claims", "caps-f17a-rps"], "capsmodel study caps-f17a-rps"),
        (["claims", "--totals"], "all"),
        (["study", "--list"], "caps-leafspine"),
        (["notebooks", "course"], "jupyter lab course"),
        (["study", "mmptcp-lt", "--costs"], "mmptcp-lt"),
        (["gallery", "--paper", "repflow", "--out", "page"], "drawings"),
    ],
)
def test_the_papers_are_told_without_rows(words, shown, installed):
    done = command(installed, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


@pytest.mark.agreement
def test_what_needs_rows_says_where_they_are(installed):
    done = command(installed, "claims", "--by-setting", "repflow-mn-dm")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "data/results/runs" in done.stderr


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


def test_every_example_of_the_help_is_a_command_with_its_options(subtests, tmp_path, monkeypatch):
    for example in [example for command in COMMANDS for example in command.examples]:
        with subtests.test(example=example):
            monkeypatch.chdir(tmp_path)
            function, arguments, _ = app.parse_args(example.split(), exit_on_error=False, print_error=False)
            assert callable(function)
            assert arguments.args or arguments.kwargs or len(example.split()) == 1
