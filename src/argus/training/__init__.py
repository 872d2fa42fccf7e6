"""Training that can be killed: one loop for whatever has weights, a loss and examples.

A training is a network, those of its weights that are learnt, a `Task` (examples to a summed loss
and a number of learnt tokens) and a `LoopConfig`. `loop.train` takes the steps; `checkpoint` keeps
where it is and the best weights so far.
"""
