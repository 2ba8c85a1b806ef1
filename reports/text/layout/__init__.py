"""Layout of text: tables, facts, wrapped lines, colors."""
