"""`argus traffic judge`: failure rates with an interval, from few judgements."""
