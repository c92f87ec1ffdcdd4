"""The wire: params and result models, one file per namespace, and the ``@rpc`` marker."""
