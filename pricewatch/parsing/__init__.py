"""Reading pages: text, prices, availability, URLs and structured data, as pure functions of their arguments.

Nothing here fetches, stores or is specific to one shop. No other package of pricewatch is imported.
"""
