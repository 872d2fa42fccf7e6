"""Benchmarks: ratios against a baseline in the same run, results stored with the hardware."""
