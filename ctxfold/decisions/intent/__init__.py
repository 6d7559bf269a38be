"""The intent decisions: `plan` writes the register, and `extract` brings lines of the log into the view."""
