"""Do nominal 95 % intervals cover 95 %? Of survival curves, of scores, of differences, and of what is said over τ."""
