"""Golden numbers: what small studies gave, so that a rebuild can be held to it."""
