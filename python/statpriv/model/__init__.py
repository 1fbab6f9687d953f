"""What a user states: queries, populations, adversaries, samplings, partitions and noise."""
