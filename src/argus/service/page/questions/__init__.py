"""The page of questions: what people ask, what nobody meets, what may fail, and judging it."""
