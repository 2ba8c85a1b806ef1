"""The compiler: text -> syntax tree -> program -> model -> configuration -> load graph."""
