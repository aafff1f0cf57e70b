"""The commands of `scrapy NAME`: one module per command. Their helpers are in `console`.

They call `services`, `store` and `rules`, and hold no rules themselves. Scrapy imports every module of this
package for every command, so modules import what only they need inside functions.
"""

from pricewatch.console.closed_pipe import survive_closed_pipe

survive_closed_pipe()
