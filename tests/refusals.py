"""How the package says no: one sentence that names the argument and what is wrong with it."""

import re

import pytest


def refuses(call, *parts, kind=(ValueError, TypeError)):
    """Assert that ``call`` is refused in one sentence that has all ``parts``; the sentence."""
    with pytest.raises(kind) as caught:
        call()
    said = str(caught.value)
    assert said.endswith("."), said
    assert not re.search(r"[.!?]\s+[A-Z]", said), said
    for part in parts:
        assert part in said, said
    return said
