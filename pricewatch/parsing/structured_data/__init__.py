"""What a page says to machines: JSON-LD, microdata, RDFa, meta tags and embedded state.

Pure functions that collect; choosing between prices is left to the readers.
"""
