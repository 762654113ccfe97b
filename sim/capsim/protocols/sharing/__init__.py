"""Sharing: which subflows a flow has, and which of them gets the next data segment."""
