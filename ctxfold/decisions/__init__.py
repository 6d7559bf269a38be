"""The four decisions of the product: fold, intent, refactor, branch."""
