"""Congestion control: how the windows of a subflow answer to what its loss recovery reports."""
