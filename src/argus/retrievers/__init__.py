"""The retriever that people run, whatever it is: one seam, queries in and ranked ids out."""
