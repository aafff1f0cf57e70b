"""Scrapy extensions, which accompany a crawl without processing its items."""
