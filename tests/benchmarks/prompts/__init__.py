"""The product's own prompts in front of a reader who acts as the model, and the product's own acceptance of what the reader writes."""
