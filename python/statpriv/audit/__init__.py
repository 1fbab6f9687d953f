"""Reviewing tables of counts that are already published: what they show, hide badly, and give away together.

Nothing here is about the law of the data. A published table is a set of equations about the counts of its cells, and
this folder says what follows from them: totals that do not fit, bounds of suppressed cells, people who are isolated
when one table is taken from another.
"""
