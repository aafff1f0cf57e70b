"""A month in a minute: the spiders against the sample marketplace, its clock moved, compared with its truth."""
