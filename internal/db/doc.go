// Package db keeps everything in one SQLite file: the log of events that every
// run is, what pages query (worked out from the events in the same
// transaction), and the trace. Nothing above it knows SQL.
//
// All writing is done by one goroutine over one connection. It takes all
// batches that wait, writes them in one transaction, a savepoint each, and
// syncs once. Reading is done over a pool, and no read stays open while
// anything waits.
package db
