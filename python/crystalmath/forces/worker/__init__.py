"""The program that runs inside an engine's environment. Standard library and numpy only."""
