"""The large counts of the acceptance cases, against real daemons: see ``cli``."""
