"""How a day or a week goes: load, backlog and machines at each moment of the profiles."""
