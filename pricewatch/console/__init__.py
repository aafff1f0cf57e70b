"""Helpers of commands: base classes, options, and input and output in a terminal.

Scrapy registers every `ScrapyCommand` class in `commands` as a command, so the base classes are here.
`project_command`, `action_command` and `page_command` are the base classes; `terminal_io` prints and asks;
`targets_options`, `extract_*` and `parse_page` belong to the command in their name. No rules live here.
"""
