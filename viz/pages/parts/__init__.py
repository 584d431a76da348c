"""What the pages share: their frame, jobs in the background, runs, uploads, links, forms and tables."""
