import os

from hypothesis import HealthCheck, settings

os.environ["MPLBACKEND"] = "Agg"  # figures without a screen

# The same examples in every run: a failure that comes and goes helps nobody.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")
