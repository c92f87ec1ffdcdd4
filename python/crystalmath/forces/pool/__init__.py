"""The pool of workers in the daemon: starts, supervises, shares and stops them.

Standard library only. The daemon is not in the way of the numbers: a client's socket is handed to
the worker itself.

    key        which worker a request belongs to
    memory     what may be started, and what must go for it
    breaker    what has crashed too often
    control    the control channel of one worker
    member     one worker: its process, channel, page and story
    roster     all of them, under one lock
    loop       one thread for all events; starter the thread that starts processes
    supervisor watches over the workers
    hiring     finds or starts the worker of a request
    dialogue   what workers say
    endings    how they ended, for people
    door       the private socket and its tokens; knock the client's side of it
    channel    a data channel in plain Python, for evaluation by JSON
    pool       all of it together: implements ``services.ports_pool.ForcePool``
"""
