"""One module a command: each reads, calls one function, prints, and returns an exit status."""
