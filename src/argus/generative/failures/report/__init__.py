"""The report of an analysis of failures: its section, tables and figures."""
