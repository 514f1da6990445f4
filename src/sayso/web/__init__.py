"""HTTP: the desk for agents and people on other machines."""
