"""An index in one folder: opened in milliseconds, written whole or not at all."""
