"""Hosts, switches and their records: written once, run by both engines.

`handlers` says what makes an end host act; `senders`, `receivers`, `subflows`, `reordering` and `processors` what it
then does, `switches` what happens between hosts. All of them call the names of `primitives`, which are those of the
reference engine; `callers` makes one caller for each hook of a protocol. The package `capsim.engines` says how the
compiled engine gives these names another meaning.
"""
