"""Results in words: one narrator for terminal, notebook and page."""
