"""Formulas as MathML, which browsers draw by themselves: the pages load no script and no font."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# What TeX does and docutils does not: \frac12 takes single characters, and functions without brackets keep a distance.
RULES = (
    (re.compile(r"\\([td]?frac) *(\w) *(\w)"), r"\\\1{\2}{\3}"),
    (re.compile(r"\\(log|max|min)(?= *[a-z]|\\(?!left|big))"), r"\\\1\\,"),
    (re.compile(r"(?<=[\w)}!]) *\\(log|max|min)(?![a-z])"), r"\\,\\\1"),
)


def tex(text: str) -> str:
    r"""Return a formula as docutils reads it.

    Examples
    --------
    >>> print(tex(r"\frac12 m\log x"))
    \frac{1}{2} m\,\log\, x
    """
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text


def _mathml(node: nodes.math | nodes.math_block) -> str:
    """Return a formula as MathML; one that cannot be read is a warning, which ends the build."""
    try:
        return tex2mathml(tex(node.astext()), as_block=isinstance(node, nodes.math_block))
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(_mathml(node))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own; one that is wider than the page is scrolled."""
    translator.body.append(f'<div class="formula">{_mathml(node)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
