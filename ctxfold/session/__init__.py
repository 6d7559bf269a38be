"""The public `Session`: recording, deciding, viewing, recalling, searching."""
