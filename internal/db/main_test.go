package db

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childTask names what this program does when a test starts it a second time,
// and childPath the database that it does it to.
const (
	childTask = "PLANWAVE_DB_TEST_TASK"
	childPath = "PLANWAVE_DB_TEST_PATH"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childTask) {
	case "append":
		err = appendUntilKilled(os.Getenv(childPath))
	case "open":
		err = openAndClose(os.Getenv(childPath))
	default:
		goleak.VerifyTestMain(m)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
