"""From a folder of documents to a proven choice: the plan, the run that can be stopped, the choice."""
