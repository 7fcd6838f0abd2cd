"""What an evaluation noted of its own."""


def noted(result):
    """The notes but for the one that every evaluation with intervals has."""
    return tuple(note for note in result.notes if not note.text.startswith("Intervals are for"))
