"""The program that runs inside an engine's environment. Standard library and numpy only.

It imports nothing of the rest of the project, as the folder is copied into environments that know
nothing of it; the host imports ``wire`` and ``plain`` from here. Python 3.10 is enough for it.
"""
