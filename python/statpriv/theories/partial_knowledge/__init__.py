"""Privacy under partial knowledge: the attacker knows some records and is uncertain of the others.

Source: Desfontaines, *Lowering the cost of anonymization*, section 3.2, and Desfontaines, Mohammadi, Krahmer and Basin,
*Differential Privacy with Partial Knowledge*. Statements that are wrong as printed are corrected here;
`docs/explanation/misprints.md` lists them, with the test that refutes each.

>>> import statpriv as sp
>>> found = sp.partial_knowledge.bernoulli_epsilon(n=1000, margin="0.05", delta="1e-3")
>>> print(f"{found.epsilon.upper:.3f}")
0.465
"""

from statpriv.theories.partial_knowledge.counting import BernoulliGuarantee, bernoulli_curve, bernoulli_epsilon
from statpriv.theories.partial_knowledge.daily_counts import BoundedDependency, DailyCounts
from statpriv.theories.partial_knowledge.dependency import (
    Composed,
    Independence,
    compose,
    composed_curve,
    conditional_independence,
    dependency,
    dependency_curve,
)
from statpriv.theories.partial_knowledge.examples import differencing_attack, proposition_29_counterexample
from statpriv.theories.partial_knowledge.loss import LossCurve, PrivacyLoss
from statpriv.theories.partial_knowledge.model import Model, Reducibility
from statpriv.theories.partial_knowledge.nested import NestedGuarantee, chained_epsilon, nested_guarantee
from statpriv.theories.partial_knowledge.thresholding import ThresholdGuarantee, threshold_guarantee

__all__ = [
    "BernoulliGuarantee",
    "BoundedDependency",
    "Composed",
    "DailyCounts",
    "Independence",
    "LossCurve",
    "Model",
    "NestedGuarantee",
    "PrivacyLoss",
    "Reducibility",
    "ThresholdGuarantee",
    "bernoulli_curve",
    "bernoulli_epsilon",
    "chained_epsilon",
    "compose",
    "composed_curve",
    "conditional_independence",
    "dependency",
    "dependency_curve",
    "differencing_attack",
    "nested_guarantee",
    "proposition_29_counterexample",
    "threshold_guarantee",
]
