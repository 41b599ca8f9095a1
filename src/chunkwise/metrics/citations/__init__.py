"""Can one point at the source?"""
