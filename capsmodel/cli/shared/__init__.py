"""Shared by several commands: options and their types, scenarios, output in text and JSON, tables, pages."""
