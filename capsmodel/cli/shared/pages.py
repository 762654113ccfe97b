"""Pages of HTML: templates of Jinja in the folder ``templates``, each one file without scripts, figures inside."""

import base64
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from capsmodel.checks import ParameterError

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _templates() -> "Environment":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise ParameterError("pages need Jinja2: pip install jinja2") from None
    environment = Environment(
        loader=PackageLoader("capsmodel.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode("ascii")
    return environment


def template(name: str) -> Callable[..., str]:
    """Return what makes a page of named values: text is escaped, bytes are written by the filter ``base64``.

    Parameters
    ----------
    name : str
        A file in the folder ``templates``.

    Raises
    ------
    ParameterError
        If Jinja2 is not installed.
    """
    return _templates().get_template(name).render
