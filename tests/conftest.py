from hypothesis import HealthCheck, settings

# The same examples in every run: a failure that comes and goes helps nobody.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")
