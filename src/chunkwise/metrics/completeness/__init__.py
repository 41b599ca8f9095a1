"""Is everything needed there?"""
