"""pricewatch: watches prices on marketplaces and shops, and stores only those it is sure of."""
