"""Which coding unit: ``capsmodel optimal-k``, by a window's delay, and ``choose-unit``, by how often it may fail.

=============== ==========================================================================================
Module          Holds
=============== ==========================================================================================
`optimal_k`     the command ``optimal-k``: the unit of least delay
`choose_unit`   the command ``choose-unit``
`unit_choice`   the units that keep a probability of failure, what each costs, and what that assumes
`measured_code` the same for a code that is measured on its decoder
`sent_windows`  what the simulator's packets and the codec's bytes say beside the formulas
=============== ==========================================================================================
"""
