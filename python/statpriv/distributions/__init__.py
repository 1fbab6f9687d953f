"""Certified probability laws and the hockey-stick divergence of any two laws."""
