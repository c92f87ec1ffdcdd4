"""Jobs on a host without a scheduler: a supervisor in the job's own script, started detached."""
