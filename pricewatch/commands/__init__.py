"""Commands of the shell, as `scrapy NAME`. They ask `store` and `rules`, and speak to people.

Every `scrapy` command of the project imports this package: so nothing here imports what only one needs.
"""

from pricewatch.console.closed_pipe import survive_closed_pipe

survive_closed_pipe()
