"""PAC privacy: normal noise in proportion to how much an answer varies over randomly drawn data.

Source: Xiao and Devadas, *PAC Privacy: Automatic Privacy Measurement and Control of Data Processing*. For counts, whose
variance is known, the noise and what is promised for it are computed here without simulation; and beside what is
promised, the certified success of three attacks.

>>> import statpriv as sp
>>> game, *_ = sp.pac_privacy.games(300, 1000, information="1/64")
>>> print(f"promised {game.promised():.4f}, true {game.success():.4f}")
promised [0.5881, 0.5882], true [0.5023, 0.5024]
"""

from statpriv.theories.pac_privacy.calibration import largest_success, noise_variances
from statpriv.theories.pac_privacy.games import Game, games

__all__ = ["Game", "games", "largest_success", "noise_variances"]
