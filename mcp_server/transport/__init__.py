"""What runs a server: stdio or HTTP, its lifetime, and cancellation."""
