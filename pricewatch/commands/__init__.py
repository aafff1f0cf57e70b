"""The commands of `scrapy NAME`: one module per command. Their helpers are in `console`.

Commands call `services`, `store` and `rules`; no rules and no SQL live here. Scrapy imports every module of
this package for every command, so heavy imports are inside functions.
"""

from pricewatch.console.closed_pipe import survive_closed_pipe

survive_closed_pipe()
