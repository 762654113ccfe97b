"""Coding of a unit of packets: when it decodes, how many repair packets it needs, how large it should be.

================== ===================================================================================
Module             Holds
================== ===================================================================================
`decoding`         the decoding probability p_S of a unit, also when the number of blocked packets is known
`random_linear`    the same for random linear codes, whose packets may be dependent
`redundancy`       how many repair packets a unit needs, and what they cost
`window_delay`     the delay of a window with and without coding
`optimal_unit`     the coding unit of least delay, and the delay of every size of unit
`unit_parameters`  what the delay of a window depends on, checked once, and the delay of one (k, r)
`messages`         when a message is complete, repeated or coded, and the loss from which coding is faster
`paths`            a package: the same over unequal paths, with loss bursts, outages, delays and deadlines
`blocking`         estimates of the blocking probability p_B from round-trip times
`_unit_search`     the numbers behind these: tails of blocked packets and the search, one text for Python and Numba
================== ===================================================================================
"""
