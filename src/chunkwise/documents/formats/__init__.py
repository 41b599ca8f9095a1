"""One loader a format, and what several of them share."""
