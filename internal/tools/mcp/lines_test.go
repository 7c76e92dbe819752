package mcp

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const (
	request  = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	response = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestOnlyMessagesAreReadFromAServer(t *testing.T) {
	tests := map[string]struct {
		wrote, want string
		junk        []string
	}{
		"messages":       {request + "\n" + response + "\n", request + "\n" + response + "\n", nil},
		"Windows":        {request + "\r\n", request + "\n", nil},
		"the last":       {request, request + "\n", nil},
		"a list":         {"[" + request + "," + response + "]\n", "[" + request + "," + response + "]\n", nil},
		"a greeting":     {"Hello\n\n" + request + "\n", request + "\n", []string{"Hello\n"}},
		"a log":          {"[INFO] x\n{\"level\":1}\n[]\n[1]\n5\n", "", []string{"[INFO] x\n", "{\"level\":1}\n", "[]\n", "[1]\n", "5\n"}},
		"half a message": {request[:20], "", []string{request[:20]}},
		"nothing":        {"", "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var junk []string
			m := newMessages(iotest.OneByteReader(strings.NewReader(test.wrote)), 1000, func(line []byte) { junk = append(junk, string(line)) })
			got, err := io.ReadAll(iotest.OneByteReader(m))
			if err != nil || string(got) != test.want {
				t.Errorf("read is %q (%v), not %q", got, err, test.want)
			}
			if !slices.Equal(junk, test.junk) {
				t.Errorf("left out is %q, not %q", junk, test.junk)
			}
		})
	}
}

func TestAMessageThatIsTooLongIsAnError(t *testing.T) {
	m := newMessages(strings.NewReader(request+"\n"+strings.Repeat("x", 10_000)), 5_000, func([]byte) {})
	got, err := io.ReadAll(m)
	if string(got) != request+"\n" || err == nil {
		t.Fatalf("read is %q, and the error %v", got, err)
	}
	mentions(t, err.Error(), "5000 bytes")
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	const least, most = 500 * time.Millisecond, 4 * time.Second
	tests := map[string]struct {
		failures int
		random   float64
		want     time.Duration
	}{
		"the first":  {1, 0, least},
		"the second": {2, 0, 2 * least},
		"the bound":  {4, 0, most},
		"later":      {1_000_000, 0, most},
		"spread":     {2, 0.5, 750 * time.Millisecond},
		"at most":    {4, 1, most / 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := backoff(test.failures, least, most, test.random); got != test.want {
				t.Errorf("it waits %v, not %v", got, test.want)
			}
		})
	}
	if got := backoff(1, time.Hour, time.Second, 0); got != time.Second {
		t.Errorf("it waits %v, longer than at most", got)
	}
}
