"""Closed forms, packet simulator and erasure codec for multipath data-centre transport.

The names below are the model: exact, vectorised closed forms of the five papers. The other parts are imported by name:
:mod:`capsmodel.symbolic` (SymPy), :mod:`capsmodel.papers` (the index of equations and claims) and what they compute in
:mod:`capsmodel.experiments`.
"""

from capsmodel._lazy import names_of_stub

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
