"""Pictures of certified numbers: δ against ε, against the size of the population and against the known entries.

A :class:`Picture` is computed first and drawn afterwards. The data of a figure can therefore be stored beside it and
are exactly what it displays. A :class:`Picture` needs no matplotlib; :func:`draw` and the functions `plot_…` do.
"""

from statpriv.plotting.axes import (
    plot_against_known,
    plot_against_size,
    plot_curve,
    plot_design,
    plot_designs,
    plot_table_plan,
    plot_trade_off,
)
from statpriv.plotting.curves import against_epsilon, against_known, against_size, sizes_between, trade_off
from statpriv.plotting.designs import design_picture, table_plan_picture, trade_off_pictures
from statpriv.plotting.drawing import draw, render, require_matplotlib
from statpriv.plotting.picture import Line, Picture, Reference, Statement

__all__ = [
    "Line",
    "Picture",
    "Reference",
    "Statement",
    "against_epsilon",
    "against_known",
    "against_size",
    "design_picture",
    "draw",
    "plot_against_known",
    "plot_against_size",
    "plot_curve",
    "plot_design",
    "plot_designs",
    "plot_table_plan",
    "plot_trade_off",
    "render",
    "require_matplotlib",
    "sizes_between",
    "table_plan_picture",
    "trade_off",
    "trade_off_pictures",
]
