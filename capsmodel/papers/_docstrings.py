"""Docstrings of figures: what is shown in one line, then what was chosen."""


def title_and_choices(docstring: str | None) -> tuple[str, str]:
    r"""Return the first line of a module's docstring, and what follows it.

    Examples
    --------
    >>> title_and_choices("Delay over load.\n\nChosen: loads up to 0.9.\n")
    ('Delay over load.', 'Chosen: loads up to 0.9.')
    """
    title, _, choices = (docstring or "").strip().partition("\n")
    return title, choices.strip()
