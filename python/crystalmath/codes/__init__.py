"""The calculation codes: one folder each, and what all of them share.

An adapter checks the input, says what to run, and judges what came out. Adapters do not know each
other, start nothing and store nothing. The services call them through
``services.ports.CodeAdapter``.
"""
