"""Shared by the tests: fakes with the interfaces of ``services.ports``, and small builders."""
