"""What is evaluated, and how it is asked."""
