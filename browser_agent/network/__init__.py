"""Where the browser may connect, and how secrets are typed and kept out of sight."""
