"""Questions with references: read from any format, located in the documents, checked, written."""
