"""What fetching shares between processes: robots.txt files, proxy blocks, fetch policies of sources."""
