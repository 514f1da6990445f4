"""How pages look: templates, what they are made of, and how text of others is drawn."""
