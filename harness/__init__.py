"""The harness: policies in, rollouts, statistics, verdicts, reports."""
