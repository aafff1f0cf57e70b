"""Scrapy extensions: what accompanies a crawl without being part of the data's way."""
