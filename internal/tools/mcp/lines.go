package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages reads the messages that a server writes, one a line, and leaves out
// what is none: many servers print a greeting, or their log, where only
// messages belong.
type messages struct {
	in   *bufio.Reader
	most int               // bytes of a line
	junk func(line []byte) // is told of every line that is no message
	rest []byte
}

func newMessages(in io.Reader, most int, junk func([]byte)) *messages {
	return &messages{in: bufio.NewReader(in), most: most, junk: junk}
}

// Read reads whole lines that are messages.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return 0, err
		case isMessage(line):
			m.rest = append(bytes.TrimSpace(line), '\n')
		case len(bytes.TrimSpace(line)) > 0:
			m.junk(line)
		}
		if err != nil && len(m.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line reads one line, and is an error where it is longer than may be.
func (m *messages) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := m.in.ReadSlice('\n')
		whole = append(whole, part...)
		if len(whole) > m.most {
			return nil, fmt.Errorf("it sent a message of more than %d bytes", m.most)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}

// isMessage says whether a line is a message, or a list of messages as the
// older protocol has them.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	var list []json.RawMessage
	if line[0] != '[' {
		list = append(list, line)
	} else if json.Unmarshal(line, &list) != nil || len(list) == 0 {
		return false
	}
	for _, one := range list {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return false
		}
	}
	return true
}
