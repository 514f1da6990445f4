"""Who may come in: tokens, sessions, passwords, and how far each of them reaches."""
