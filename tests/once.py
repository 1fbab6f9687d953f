"""Releases whose page is drawn roughly, and computed once for a plan and numbers of rows.

It takes nearly all of the time of a release, and seldom is the question.
"""

from __future__ import annotations

import copy
from fractions import Fraction

from statpriv.releasing import contents, run
from statpriv.releasing.guarantee import certify
from statpriv.releasing.history import as_first_release
from statpriv.releasing.other_people import other_people
from statpriv.releasing.report import render

compute = run.prospective_contents
FEW_ROWS = 100
FEW_POINTS = {
    **dict.fromkeys(["_STEPS_TO_TARGET", "_STEPS_IF_LARGE"], 1),
    **dict.fromkeys(["_RESOLUTION", "_RESOLUTION_IF_COSTLY"], 4),
    "_KNOWN_SHARES": [Fraction(1, 2)],
    "other_people": lambda guarantee: other_people(guarantee) if guarantee.rows <= FEW_ROWS else (),
}
"""Of `statpriv.releasing.contents`: how finely curves and tables are drawn, and other people of few rows."""
_computed = {}


def draw_roughly(patch):
    """Few points, as long as the patch lasts."""
    for name, few in FEW_POINTS.items():
        patch.setattr(contents, name, few)


def prospective_contents(guarantee, *, alone=None, progress, **options):
    """What `run` asks for, with the steps that it announces."""
    alone = alone or guarantee
    stated = [(each.rows, each.groups, each.parts) for each in (guarantee, alone)]
    key = (guarantee.plan.sha256, repr(stated), repr(options))
    if key not in _computed:
        steps = []
        computed = compute(guarantee, alone=alone, progress=steps.append, **options)
        _computed[key] = steps, computed
    steps, computed = _computed[key]
    for step in steps:
        progress(step)
    return copy.deepcopy(computed)


def prepare(plan, rows):
    """Compute what a first release of this plan needs, and make its page once."""
    guarantee = certify(plan, rows)
    computed = prospective_contents(guarantee, rows_left=rows, dry_run=False, progress=lambda _step: None)
    render(as_first_release({**computed, "dry_run": True}, guarantee))
