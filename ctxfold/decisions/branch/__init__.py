"""The branch decision: on which branch or topic a message belongs."""
