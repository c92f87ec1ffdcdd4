"""Force engines: the worker that computes, and everything that talks to it."""
