"""A month in a minute: the spiders on the sample marketplace, its clock moved, compared with its truth."""
