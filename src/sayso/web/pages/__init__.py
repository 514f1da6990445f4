"""The pages beside the inbox: overview, runs, audit, policies, people."""
