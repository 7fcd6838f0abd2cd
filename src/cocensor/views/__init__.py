"""Results as text, pages, plots and tables."""
