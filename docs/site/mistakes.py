"""What people of the field write who do not know this library, each with the remedy that its message has to hold.

The site shows the messages, and `tests/unit/test_plausible_mistakes.py` asserts them.
"""

from __future__ import annotations

import statpriv as sp

NAMESPACE = {
    "sp": sp,
    "CURVE": sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(50)),
    "HALF": sp.PropertyQuery("1/2"),
    "HUNDRED": sp.Population(100),
}
"""What the names in the code stand for."""

CALLS = {
    "CURVE.satisfies(0.1, 0.01)": "write satisfies(epsilon=0.1, delta=0.01)",
    "CURVE.satisfies(eps=0.1, delta=0.01)": "write satisfies(epsilon=0.1, delta=0.01)",
    "CURVE.satisfies(epsilon=0.1)": "write satisfies(epsilon=0.1, delta=…)",
    "CURVE.satisfies(target_epsilon=1, target_delta=0.1)": "write satisfies(epsilon=1, delta=0.1)",
    "CURVE.table(eps=[0.1])": "write table([0.1])",
    "CURVE.plot(epsilons=[0.1])": "write plot(",
    "CURVE.exact_delta(1.5)": "write exact_delta(exp_epsilon=1.5)",
    "CURVE.sensitivity(0.1)": "write sensitivity(epsilon=0.1)",
    "CURVE.certify(0.1, 0.01)": "write certify(epsilon=0.1, delta=0.01)",
    "CURVE.epsilon(target_delta=1e-6)": "write epsilon(1e-06)",
    "CURVE.epsilon(1e-6, precision=30)": "write epsilon(1e-06, digits=30)",
    "sp.Adversary(100)": "write Adversary(known=100)",
    "sp.Adversary(knowledge=100)": "write Adversary(known=100)",
    "sp.Adversary(k=100)": "write Adversary(known=100)",
    "sp.Adversary(known_rows=100)": "write Adversary(known=100)",
    "sp.Population(n=100)": "write Population(100)",
    "sp.Population(rows=100)": "write Population(100)",
    "sp.Population(100, 20)": "write Population(100, groups=20)",
    "sp.Population(100, cluster=20, largest=5)": "write Population(100, clusters=20",
    "sp.noise.DiscreteGaussian(1)": "write DiscreteGaussian(sigma=1)",
    "sp.noise.DiscreteGaussian(noise_multiplier=1)": "write DiscreteGaussian(sigma=1)",
    "sp.noise.DiscreteGaussian(std=2)": "write DiscreteGaussian(sigma=2)",
    "sp.noise.DiscreteLaplace(epsilon=0.5)": 'write DiscreteLaplace(scale="1/0.5")',
    "sp.noise.DiscreteLaplace(b=2)": "write DiscreteLaplace(scale=2)",
    "sp.noise.Laplace(2)": "write Laplace(scale=2)",
    "sp.noise.Laplace(epsilon=0.5)": 'write Laplace(scale="1/0.5")',
    "sp.noise.Gaussian(2)": "write Gaussian(sigma=2)",
    "sp.noise.Gaussian(stddev=2)": "write Gaussian(sigma=2)",
    "sp.PropertyQuery(probability=0.5)": "write PropertyQuery(0.5)",
    "sp.PropertyQuery(prob=0.5)": "write PropertyQuery(0.5)",
    "sp.PropertyQuery(0.5, 'smokes')": "write PropertyQuery(0.5, attribute='smokes')",
    "sp.PropertyQuery(0.5, attr='smokes')": "write PropertyQuery(0.5, attribute='smokes')",
    "sp.PropertyQuery()": "write PropertyQuery(…)",
    "sp.HistogramQuery(probabilities=[0.5, 0.5])": "write HistogramQuery([0.5, 0.5])",
    "sp.ContingencyTable(12, 10)": "write ContingencyTable(12, minimum=10)",
    "sp.ContingencyTable(12, threshold=10)": "write ContingencyTable(12, minimum=10)",
    "sp.ContingencyTable(12, min_count=10)": "write ContingencyTable(12, minimum=10)",
    "sp.ContingencyTable(12)": "write ContingencyTable(12, minimum=…)",
    "sp.minimum_count_curve(10, 3)": "write minimum_count_curve(10, known=3)",
    "sp.minimum_count_curve(threshold=10)": "write minimum_count_curve(10)",
    "sp.privacy_curve(HALF)": "write privacy_curve(PropertyQuery(0.5), …)",
    "sp.privacy_curve(HALF, HUNDRED, sp.Adversary(known=1))": "adversary=Adversary(known=1)",
    "sp.privacy_curve(HALF, HUNDRED, known=3)": "adversary=sp.Adversary(known=3)",
    "sp.privacy_curve(HALF, HUNDRED, knowledge=sp.Adversary(known=1))": "adversary=Adversary(known=1)",
    "sp.privacy_curve(HALF, HUNDRED, method='exact')": "bound='exact'",
    "sp.compose([HALF], HUNDRED)": "Population(size=100), …)",
    "sp.RandomPartition(10, 20)": "write RandomPartition(10)",
}

NAMES = {
    "CURVE.get_epsilon(1e-6)": "write curve.epsilon(1e-6)",
    "CURVE.get_epsilon_for_delta(1e-6)": "write curve.epsilon(1e-6)",
    "CURVE.get_delta(0.1)": "write curve.delta(0.1)",
    "CURVE.get_delta_for_epsilon(0.1)": "write curve.delta(0.1)",
    "CURVE.eps": "write curve.epsilon(1e-6)",
    "CURVE.rdp": "write curve.renyi(2)",
    "CURVE.rho": "write curve.zcdp()",
    "CURVE.tradeoff": "write curve.beta(0.05)",
    "CURVE.summary()": "write curve.explain()",
    "CURVE.self_compose(3)": "sp.compose([…], population, partition)",
    "CURVE.to_opendp()": "sp.interop.to_opendp(curve)",
    "CURVE.epsillon(1e-6)": "write curve.epsilon",
    "sp.relase": "did you mean sp.release?",
    "sp.privacycurve": "did you mean sp.privacy_curve?",
    "sp.PropertyQuerry": "did you mean sp.PropertyQuery?",
    "sp.propertyquery": "did you mean sp.PropertyQuery?",
    "sp.Adversery": "did you mean sp.Adversary?",
}

VALUES = {
    "sp.PropertyQuery('69%')": 'write "69/100"',
    "CURVE.delta('30%')": 'write "30/100"',
    "sp.Population('1,000')": "write 1000",
    "sp.PropertyQuery('0,5')": "write 0.5",
    "sp.PropertyQuery('0.2-0.4')": 'a range is written "0.2..0.4"',
    "sp.HistogramQuery([[0.2, 0.4], [0.6, 0.8]])": "sp.Between(0.2, 0.4)",
    "sp.PropertyQuery({'a': [0.2, 0.4]})": "sp.EachBetween(0.2, 0.4)",
    "sp.Between(0.4)": 'Between("0.4..0.6")',
    "sp.EachBetween('0.4')": 'EachBetween("0.4..0.6")',
    "float(CURVE.delta(0.1))": "use .upper where too small would be unsafe",
}


def message(code: str) -> str:
    """What the library answers."""
    try:
        eval(code, dict(NAMESPACE))  # noqa: S307  (code of this file)
    except (sp.StatprivError, AttributeError) as error:
        return str(error)
    raise AssertionError(f"{code} is no mistake")
