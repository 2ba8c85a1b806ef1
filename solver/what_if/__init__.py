"""The question asked otherwise: advice, the question turned round, sizing, differences."""
