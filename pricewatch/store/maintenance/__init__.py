"""Daily maintenance: what expires is removed, counters roll over, circuit breakers get another chance."""
