"""Contract: files stay short enough to be read at a sitting. Lines of code count; prose, comments and blanks do not."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for folder in ("capsmodel", "sim/capsim") for path in (ROOT / folder).rglob("*.py"))
MOST_LINES = 400
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text):
    """Return how many lines of a module hold code."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in NO_CODE]
    texts = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(code - {line for node in texts for line in range(node.lineno, node.end_lineno + 1)})


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_short(path):
    assert code_lines(path.read_text(encoding="utf-8")) <= MOST_LINES


def test_prose_does_not_count():
    assert code_lines('"""Text,\nlong."""\n\n# why\nx = (\n    1\n)\n\n\ndef f():\n    """Say."""\n    return x\n') == 5
