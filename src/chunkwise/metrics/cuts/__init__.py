"""What the places a document is cut at are like."""
