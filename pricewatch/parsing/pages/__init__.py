"""What the elements of a page show: prices, availability, notices. Pure functions of an element tree."""
