"""The inbox: the pages on which people decide."""
