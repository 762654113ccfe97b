"""Settings of all tests: Hypothesis draws the same examples every time and never looks at the clock."""

from hypothesis import settings

settings.register_profile("capsmodel", deadline=None, derandomize=True)
settings.load_profile("capsmodel")
