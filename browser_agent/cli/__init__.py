"""The browser's commands, one a file: `browse` and `demo`. They print and set exit codes; they decide and browse nothing themselves."""
