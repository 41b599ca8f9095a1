"""Tools, resources and prompts for assistants, by the Model Context Protocol."""
