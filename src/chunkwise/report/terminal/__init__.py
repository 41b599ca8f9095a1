"""Views drawn in a terminal; text of documents, questions and models cannot move the cursor or add markup."""
