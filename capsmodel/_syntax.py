"""Source code without what has no effect: equal for two texts that do the same, statement by statement."""

import ast
from typing import Any

_NO_MEANING = frozenset({"annotation", "returns", "decorator_list", "type_comment", "type_params", "kind", "ctx"})


def normal_syntax(part: Any) -> Any:
    r"""Return a syntax tree as lists, without comments, docstrings, annotations and decorators.

    Nothing empty is in it, as versions of Python differ in what they leave out.

    Examples
    --------
    >>> one, same = ast.parse("x = 1  # one"), ast.parse("'text'\nx: int = 1\n")
    >>> normal_syntax(one.body[0].value) == normal_syntax(same.body[1].value)
    True
    """
    if isinstance(part, ast.Constant):
        return [type(part.value).__name__, repr(part.value)]
    if isinstance(part, ast.AST):
        kept = {
            name: item for name, item in ast.iter_fields(part) if name not in _NO_MEANING and item not in (None, [])
        }
        return [type(part).__name__, {name: normal_syntax(item) for name, item in kept.items()}]
    if isinstance(part, list):
        return [normal_syntax(item) for item in part if not _is_text(item)]
    return part


def _is_text(part: Any) -> bool:
    """Return whether `part` is a statement that is a string: a docstring, or a comment in its form."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
