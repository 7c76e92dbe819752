package mcp

import "time"

// backoff returns how long to wait before a server is started again after so
// many failures in a row: least, doubled for each further one, at most most. A
// share of up to a half, by random, is taken off it, so that servers that fell
// together do not come back together.
func backoff(failures int, least, most time.Duration, random float64) time.Duration {
	wait := min(least, most)
	for range failures - 1 {
		if wait *= 2; wait >= most {
			wait = most
			break
		}
	}
	return wait - time.Duration(random*float64(wait)/2)
}
