"""The use cases, one file per namespace: the RPC methods themselves, and the pump."""
