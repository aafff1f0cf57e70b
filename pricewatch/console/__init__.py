"""What commands stand on: options, tables, JSON and messages in a terminal.

No command lives here, and no rules.
"""
