"""Operations of queues and networks, as fractions and as balls."""
