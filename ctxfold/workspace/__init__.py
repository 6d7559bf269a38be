"""The frozen values a view is made of."""
