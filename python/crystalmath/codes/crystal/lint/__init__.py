"""What is wrong with a deck, line by line."""
