"""What the elements of a page show to people: prices, availability, notices.

Pure functions of an element tree; choosing between prices is left to the readers.
"""
