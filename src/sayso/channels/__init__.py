"""How people are told, and how an ask looks to them. Channels send; they decide nothing."""
