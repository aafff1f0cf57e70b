"""Reading pages: text, prices, stock, URLs and structured data, as pure functions of what they are given.

Nothing here fetches, stores or knows a shop, and of ours it imports only `items`.
"""
