"""Forms from JSON Schema: drawn on the server, read back with every type kept."""
