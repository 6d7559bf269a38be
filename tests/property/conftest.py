"""Bounded runs: hypothesis takes no deadline from a shared machine, and keeps its examples out of the tree."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "bounded",
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
settings.load_profile("bounded")
