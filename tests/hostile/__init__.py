"""What an enemy would send: texts, pages, files and answers that no honest site has."""
