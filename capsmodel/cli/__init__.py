"""The command line: one application, one module per group of commands, each imported only when it is called."""

import sys
from typing import NoReturn

from cyclopts import App, CycloptsError

from capsmodel import __version__
from capsmodel._checks import ParameterError

app = App(
    name="capsmodel",
    version=__version__,
    help="Coding, spraying and replication in data-centre fabrics: closed forms, packet simulator, codec.",
)

# Name on the command line -> where its function lives; the module is imported when the command is called.
_COMMANDS = {
    "optimal-k": "capsmodel.cli.optimal_k:optimal_k",
    "decode-prob": "capsmodel.cli.closed_forms:decode_probability",
    "redundancy": "capsmodel.cli.closed_forms:redundancy",
    "reordering": "capsmodel.cli.closed_forms:reordering",
    "fct": "capsmodel.cli.closed_forms:fct",
    "equations": "capsmodel.cli.equations:equations",
    "claims": "capsmodel.cli.equations:claims",
    "cite": "capsmodel.cli.equations:cite",
    "demo": "capsmodel.cli.demo:demo",
    "codec": "capsmodel.cli.codec:app",
    "simulate": "capsmodel.cli.simulate:simulate",
    "rerun": "capsmodel.cli.simulate:rerun",
    "compare": "capsmodel.cli.compare:compare",
    "schemes": "capsmodel.cli.compare:schemes",
}
for _name, _place in _COMMANDS.items():
    app.command(_place, name=_name)


def _fail(text: str) -> NoReturn:
    print(f"capsmodel: {' '.join(text.split())}", file=sys.stderr)
    raise SystemExit(2)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; input that breaks a rule ends in one line on stderr and exit status 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _fail(str(error))
    except (ParameterError, FileNotFoundError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
