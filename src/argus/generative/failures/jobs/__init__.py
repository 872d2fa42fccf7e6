"""The job `generative analyse`: report which questions fail, and why."""
