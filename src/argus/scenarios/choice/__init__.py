"""Which component of the scenarios, and which λ: chosen by needs that are held out."""
