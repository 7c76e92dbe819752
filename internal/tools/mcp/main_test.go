package mcp

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asServer names the kind of server that this program is when a test starts it
// a second time, and atFIFO a pipe by which the two wait for each other.
const (
	asServer = "PLANWAVE_MCP_TEST_SERVER"
	atFIFO   = "PLANWAVE_MCP_TEST_FIFO"
)

func TestMain(m *testing.M) {
	kind, ok := os.LookupEnv(asServer)
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	if err := serve(kind); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
