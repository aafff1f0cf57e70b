"""What a page says to machines: JSON-LD, microdata, RDFa, meta tags and embedded state."""
