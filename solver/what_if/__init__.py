"""Other questions about a model: advice, inverse questions, sizing, differences."""
