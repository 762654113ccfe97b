"""``capsmodel optimal-k``: which coding unit, by a window's delay or by how often it may fail.

=============== ==========================================================================================
Module          Holds
=============== ==========================================================================================
`optimal_k`     the command, and the unit of least delay
`unit_choice`   the units that keep a probability of failure, what each costs, and what that assumes
`measured_code` the same for a code that is measured on its decoder
`sent_windows`  what the simulator's packets and the codec's bytes say beside the formulas
=============== ==========================================================================================
"""
