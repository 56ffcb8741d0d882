"""A static site of chosen reports and documents: plain pages, no scripts, readable for decades."""
