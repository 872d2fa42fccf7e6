"""Measure agreement of raters beyond chance: Cohen's and Fleiss' kappa, nominal alpha.

All are 1 - D_o / D_e: 1 if raters agree, 0 if they agree as by chance, below 0 if less than that.
They differ in the model of chance. None means undefined, because all answers are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two raters (Cohen, 1960), κ = (p_o - p_e) / (1 - p_e).

    pairs: both answers on each item. p_o: the share of equal pairs. p_e: of pairs that are equal
    where each rater draws from its own answers. Raises ValueError for no pair.
    """
    if not pairs:
        raise ValueError("no pair: two raters agree on items that both have rated.")
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    equal = sum(a == b for a, b in pairs)
    by_chance = sum(times * second[label] for label, times in first.items())
    return None if by_chance == n * n else (equal * n - by_chance) / (n * n - by_chance)


def fleiss_kappa(units: Sequence[Sequence[str]]) -> float | None:
    """Return Fleiss' kappa (Fleiss, 1971, eqs. 2 to 7), (P̄ - P̄_e) / (1 - P̄_e).

    units: the answers on each item, the same number on each, two at least. Who gave them does not
    count. P̄: the share of pairs of answers on one item that are equal. P̄_e: the same of two answers
    drawn from all, with replacement. Raises ValueError for other units.
    """
    sizes = {len(unit) for unit in units}
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError(
            f"items with {sorted(sizes)} answers: Fleiss' kappa needs equally many of each, two at "
            "least; nominal_alpha takes any."
        )
    m, total = sizes.pop(), Counter(answer for unit in units for answer in unit)
    answers = m * len(units)
    if len(total) == 1:
        return None
    equal = sum(_equal_pairs(unit) for unit in units) / (answers * (m - 1))
    by_chance = sum(times**2 for times in total.values()) / answers**2
    return (equal - by_chance) / (1 - by_chance)


def nominal_alpha(units: Sequence[Sequence[str]]) -> float | None:
    """Return Krippendorff's alpha for nominal data (Krippendorff, 2011), 1 - D_o / D_e.

    units: the answers on each item. Any may be missing, and items with one answer are left out. D_o
    is the share of unequal pairs on one item, an item of m answers weighing m. D_e is that of
    unequal pairs of two answers drawn from all, without replacement. None where no item has two.
    """
    units = [unit for unit in units if len(unit) > 1]
    total = Counter(answer for unit in units for answer in unit)
    n = total.total()
    if len(total) < 2:
        return None
    unequal = sum(len(unit) - _equal_pairs(unit) / (len(unit) - 1) for unit in units) / n
    by_chance = 1 - sum(times * (times - 1) for times in total.values()) / (n * (n - 1))
    return 1 - unequal / by_chance


def _equal_pairs(unit: Sequence[str]) -> int:
    """Return how many ordered pairs of answers on one item are equal."""
    return sum(times * (times - 1) for times in Counter(unit).values())
