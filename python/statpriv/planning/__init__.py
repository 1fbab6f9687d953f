"""Planning: the questions of `sp.design`, and how sensitive a curve is to one assumption at a time."""
