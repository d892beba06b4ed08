"""Statistics of generalization gaps: arrays in, results out.

Scores are float64 arrays [S, E]: one row per training seed, one column per episode, the same
episode index on all sides being the same level. Gaps are train minus held-out, turned so that
positive is a loss. Nothing here knows of environments, policies or files.
"""

from harness.statistics.bootstrap import scale_factor
from harness.statistics.checks import DEFAULT_METHOD, METHODS, SCOPES
from harness.statistics.compare import (
    BaselineOutcome,
    Comparison,
    Widening,
    against_baseline,
    compare_policies,
    gap_difference,
    probability_of_improvement,
    suite_difference,
    widening,
)
from harness.statistics.doseresponse import (
    DoseResponse,
    HalfLoss,
    dose_response,
    half_loss_dose,
    simultaneous_band,
    slope_interval,
)
from harness.statistics.floor import (
    NoiseFloor,
    Spread,
    aa_floor,
    collapse_bound,
    competence_threshold,
    measured_aa,
    noise_floor,
    replay_check,
    seed_spread,
    suite_floor,
)
from harness.statistics.gaps import arm_interval, paired_gap, split_gap
from harness.statistics.gate import (
    GateOutcome,
    PairGate,
    adjusted_p_values,
    apply_verdicts,
    gap_p_value,
    pair_gate,
    suite_gate,
    three_way,
    worst_status,
)
from harness.statistics.intervals import (
    Interval,
    default_scope,
    seed_bounds,
    seed_interval,
    statistic_interval,
    wilson,
)
from harness.statistics.means import compare_means
from harness.statistics.metric import SUCCESS, Metric
from harness.statistics.paper import Envelope, envelope, envelope_mean
from harness.statistics.power import (
    Needed,
    needed_to_decide,
    plan_message,
    power_to_exceed,
    smallest_detectable,
)
from harness.statistics.ranking import Rank, rank_groups
from harness.statistics.relative import RatioGap, normalized_gap, relative_gap
from harness.statistics.results import ArmResult, GapResult, Settings
from harness.statistics.scores import ScoresResult, judge_scores, seed_labels
from harness.statistics.suite import (
    Stratum,
    SuiteResult,
    WorstPairs,
    axis_gaps,
    suite_gap,
    worst_pairs,
)
from harness.statistics.verdicts import (
    VERDICTS,
    Verdict,
    heterogeneity,
    judge,
    judge_suite,
    verdict_row,
)

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "SCOPES",
    "SUCCESS",
    "VERDICTS",
    "ArmResult",
    "BaselineOutcome",
    "Comparison",
    "DoseResponse",
    "Envelope",
    "GapResult",
    "GateOutcome",
    "HalfLoss",
    "Interval",
    "Metric",
    "Needed",
    "NoiseFloor",
    "PairGate",
    "Rank",
    "RatioGap",
    "ScoresResult",
    "Settings",
    "Spread",
    "Stratum",
    "SuiteResult",
    "Verdict",
    "Widening",
    "WorstPairs",
    "aa_floor",
    "adjusted_p_values",
    "against_baseline",
    "apply_verdicts",
    "arm_interval",
    "axis_gaps",
    "collapse_bound",
    "compare_means",
    "compare_policies",
    "competence_threshold",
    "default_scope",
    "dose_response",
    "envelope",
    "envelope_mean",
    "gap_difference",
    "gap_p_value",
    "half_loss_dose",
    "heterogeneity",
    "judge",
    "judge_scores",
    "judge_suite",
    "measured_aa",
    "needed_to_decide",
    "noise_floor",
    "normalized_gap",
    "pair_gate",
    "paired_gap",
    "plan_message",
    "power_to_exceed",
    "probability_of_improvement",
    "rank_groups",
    "relative_gap",
    "replay_check",
    "scale_factor",
    "seed_bounds",
    "seed_interval",
    "seed_labels",
    "seed_spread",
    "simultaneous_band",
    "slope_interval",
    "smallest_detectable",
    "split_gap",
    "statistic_interval",
    "suite_difference",
    "suite_floor",
    "suite_gap",
    "suite_gate",
    "three_way",
    "verdict_row",
    "widening",
    "wilson",
    "worst_pairs",
    "worst_status",
]
