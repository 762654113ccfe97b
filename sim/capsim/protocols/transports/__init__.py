"""Transports: how an end host sends, acknowledges and repairs."""
