"""Speed and accuracy, run by ``make bench`` and never timed in tests."""
