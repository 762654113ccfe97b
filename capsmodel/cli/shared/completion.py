"""``capsmodel --install-completion``: what Cyclopts needs for it is imported when somebody asks for it."""

from cyclopts.completion.install import create_install_completion_command

from capsmodel.cli import app

install = create_install_completion_command(app.install_completion, add_to_startup=True)
