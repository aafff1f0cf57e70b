"""Commands of the shell, as `scrapy NAME`. They ask `store` and `rules`, and speak to people."""
