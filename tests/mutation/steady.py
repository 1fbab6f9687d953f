"""A Hypothesis profile that draws the same examples in every run, regardless of the speed of the machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
settings.load_profile("steady")
