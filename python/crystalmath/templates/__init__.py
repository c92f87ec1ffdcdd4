"""Templates: texts with places to fill in, and the front matter that says what goes there.

``shipped/`` holds those of the program. Everything here runs in worker processes; the services
know it by name alone.
"""
