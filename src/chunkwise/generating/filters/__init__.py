"""What a question is dropped for, one reason a file."""
