"""Does the judge take sides? Scores of twelve models under several adjustments, where the event times are known."""
