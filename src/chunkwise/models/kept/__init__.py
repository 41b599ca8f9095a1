"""What was embedded once is kept."""
