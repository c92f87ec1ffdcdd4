"""Options of each kind of workflow, a module per kind."""
