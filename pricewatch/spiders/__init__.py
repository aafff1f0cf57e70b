"""The four spiders, their base classes and their arguments. SQL belongs in `store`."""
