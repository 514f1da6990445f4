"""Who must say yes to what: rules in, rulings out. Pure: no I/O, no clock."""
