"""Which addresses the browser may connect to, and how secrets are typed and masked."""
