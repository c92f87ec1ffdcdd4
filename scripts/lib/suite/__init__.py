"""The tests of both languages, run group by group and summed up; started by ``scripts/test``."""
