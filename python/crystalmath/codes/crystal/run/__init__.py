"""A CRYSTAL job: what it is made of, the script that runs it, and how it goes on."""
