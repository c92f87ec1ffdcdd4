"""i-PI, the protocol of other people's programs: level 0, in both directions.

``codec`` knows the bytes and ``quirks`` the programs. ``host`` drives a foreign force program,
``serve`` lets a foreign server drive one of our workers.
"""
