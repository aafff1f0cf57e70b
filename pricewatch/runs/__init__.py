"""One run of a spider: its row and counters, how far its start pages have been read, what it will do.

No spider and no Scrapy component lives here.
"""
