"""How likely each answer is, where numbers of a spec are not known."""
