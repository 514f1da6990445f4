"""A desk behind HTTP: the same verbs, carried out by a server elsewhere.

`Desk("https://...")` hands over to `RemoteDesk`; a program that uses a database never loads this.
"""
