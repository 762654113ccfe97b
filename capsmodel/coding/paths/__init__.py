"""Units over unequal paths: what is lost or late, how many repair packets that takes, which unit is best.

================ =====================================================================================
Module           Holds
================ =====================================================================================
`losses`         what happens to the packets of a unit: tables of P(more than r of n are lost), and draws
`delays`         delays of a path, for packets that must meet a deadline
`files`          losses of paths from a table of one's own
`unit_choice`    repair packets for a probability of failure, and the sizes that are worth a look
`retransmission` repair packets beside retransmission: sendings that fit a deadline, and r for each
`estimates`      errors of the loss, counted losses, what is lost in spite of the code, interleaving
`_optimum`       the unit of least delay or overhead, from one table
`_loss_table`    the numbers behind `losses`: one kernel of positive terms
================ =====================================================================================
"""
