"""What people said of passages as answers to questions: kept as events, pooled blind, compared, made into test sets."""
