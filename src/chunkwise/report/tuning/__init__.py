"""What a sweep found out, as a page and as a fragment of one."""
