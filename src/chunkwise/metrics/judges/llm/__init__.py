"""A language model as a judge: what it is asked, and what it said before."""
