"""The command line: one application, one module per group of commands, each imported only when it is called."""

import sys

from cyclopts import App, CycloptsError

from capsmodel._version import __version__
from capsmodel.checks import ParameterError
from capsmodel.cli._endings import ended_like_an_interrupt, fail, give_up_output, print_what_any_terminal_can, told

app = App(
    name="capsmodel",
    version=__version__,
    help="Coding, spraying and replication in data-centre fabrics: closed forms, packet simulator, codec.",
)

# Command -> where its function lives, and its help: the module is imported only when the command is called.
_COMMANDS = {
    "optimal-k": ("optimal_k:optimal_k", "Find the coding unit (k source, r repair packets) with the smallest delay."),
    "decode-prob": ("closed_forms:decode_probability", "Print the probability that a coding unit decodes."),
    "redundancy": ("closed_forms:redundancy", "Print the repair packets a unit needs and their share of traffic."),
    "reordering": ("closed_forms:reordering", "Print how likely a sprayed flow is reordered."),
    "fct": ("closed_forms:fct", "Print normalised flow completion times with and without replication."),
    "simulate": ("simulate:simulate", "Simulate a scenario packet by packet."),
    "compare": ("compare:compare", "Run schemes on the same flows and compare them with confidence intervals."),
    "rerun": ("simulate:rerun", "Run a result again from its manifest and compare bit for bit."),
    "schemes": ("compare:schemes", "List the schemes that can be simulated."),
    "codec": ("codec:app", "Code a file into packets, decode it, look into packets, measure losses."),
    "reproduce": ("reproduce:reproduce", "Compute figures of the papers, draw them with what the papers print beside."),
    "equations": ("equations:equations", "List every equation of the papers and the functions that compute it."),
    "claims": ("equations:claims", "List the published claims with our values and verdicts."),
    "cite": ("equations:cite", "Print references to the papers."),
    "demo": ("demo:demo", "Do the main job on the papers' settings; leave tables and figures in a folder."),
}
for _name, (_place, _help) in _COMMANDS.items():
    app.command(f"capsmodel.cli.{_place}", name=_name, help=_help, sort_key=list(_COMMANDS).index(_name))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; input that breaks a rule ends in one line on stderr and exit status 2."""
    print_what_any_terminal_can()
    try:
        with ended_like_an_interrupt():
            try:
                app(arguments, exit_on_error=False, print_error=False)
            finally:
                sys.stdout.flush()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader has seen enough, as head does
        give_up_output()
        raise SystemExit(141) from None
    except (CycloptsError, ParameterError) as error:
        fail(str(error), *getattr(error, "__notes__", ()))  # a file that is read may have several faults
    except OSError as error:
        give_up_output()
        fail(told(error))
    except MemoryError:
        fail("this does not fit in memory: ask for less, or take a machine with more")
