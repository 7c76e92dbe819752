// Package mcp makes the tools of MCP servers into tools of ours.
//
// Every server has one goroutine of its own, which starts it, lists its tools,
// watches over it and starts it again when it ends. It alone changes what its
// server has become; everybody else reads that under a lock. A call runs in the
// goroutine of whoever makes it, on the connection there is at that moment, and
// is never made twice: what became of a call whose server died nobody knows.
package mcp
