"""The command line: one application, one module per group of commands, each imported only when it is called."""

import sys
from typing import Any

from cyclopts import App, CycloptsError, Group

from capsmodel import __version__
from capsmodel.checks import ParameterError
from capsmodel.cli._commands import COMMANDS
from capsmodel.cli.shared.endings import (
    described,
    ended_like_an_interrupt,
    fail,
    give_up_output,
    misused,
    print_what_any_terminal_can,
    warnings_in_a_line,
)


class _Help:
    """Prints help as Cyclopts does, but what docstrings say of an option is running text, wherever their lines end."""

    def __call__(self, console: Any, options: Any, panel: Any) -> None:
        """Print a panel."""
        for entry in panel.entries:
            text: Any = getattr(entry.description, "primary_renderable", None)
            if hasattr(text, "plain"):
                text.plain = " ".join(text.plain.split())
        self._default()(console, options, panel)

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:
        """Print how the command is called."""
        self._default().render_usage(console, options, usage)

    def render_description(self, console: Any, options: Any, description: Any) -> None:
        """Print what the command does."""
        self._default().render_description(console, options, description)

    @staticmethod
    def _default() -> Any:
        from cyclopts.help import DefaultFormatter  # with what it needs, when somebody asks for help

        return DefaultFormatter()


app = App(
    name="capsmodel",
    version=__version__,
    help="Coding, spraying and replication in data-centre fabrics: formulas, packet simulator, codec.",
    help_format="plaintext",
    help_formatter=_Help(),
    help_epilogue="capsmodel COMMAND --help explains a command, with examples. --install-completion lets Tab complete "
    "commands and options.",
)
app.register_install_completion_command(help="Let the shell complete commands and options.")
_GROUPS = {
    name: Group(name, sort_key=position)
    for position, name in enumerate(dict.fromkeys(command.group for command in COMMANDS))
}
for _position, _command in enumerate(COMMANDS):
    # A command with commands of its own says itself what its help ends with.
    _epilogue = {} if _command.place.endswith(":app") else {"help_epilogue": _command.epilogue}
    app.command(
        f"capsmodel.cli.{_command.place}",
        name=_command.name,
        group=_GROUPS[_command.group],
        help=_command.help,
        sort_key=_position,
        **_epilogue,
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; input that breaks a rule ends in one line on stderr and exit status 2."""
    print_what_any_terminal_can()
    try:
        with ended_like_an_interrupt(), warnings_in_a_line():
            try:
                app(arguments, exit_on_error=False, print_error=False)
            finally:
                sys.stdout.flush()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader has seen enough, as head does
        give_up_output()
        raise SystemExit(141) from None
    except CycloptsError as error:
        fail(misused(error))
    except ParameterError as error:
        fail(str(error), *getattr(error, "__notes__", ()))  # a file that is read may have several faults
    except OSError as error:
        give_up_output()
        fail(described(error))
    except MemoryError:
        fail("this does not fit in memory: ask for less, or take a machine with more")
