"""From episode records to verdicts, tables and files."""
