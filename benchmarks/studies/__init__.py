"""The long simulation studies behind benchmarks/results: what is missing, and whether code gives the same today."""
