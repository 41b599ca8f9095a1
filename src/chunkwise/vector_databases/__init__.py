"""Vector databases that people have, and chunks pushed into them."""
