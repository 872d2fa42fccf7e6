"""The job `generative analyse`: outputs in, one report of what fails and why out."""
