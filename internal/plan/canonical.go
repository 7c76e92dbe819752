package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// Canonical returns the one form of a plan that is hashed: fixed order of
// fields, absent fields left out, keys of objects in a tool's input sorted,
// numbers as they were written, no white space.
func Canonical(p Plan) ([]byte, error) {
	c := p.Clone()
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.DependsOn == nil {
			s.DependsOn = []string{}
		}
		input, err := canonicalJSON(s.Input)
		if err != nil {
			return nil, fmt.Errorf("canonical form of step %q: its input: %w", s.ID, err)
		}
		s.Input = input
		if s.Contract != nil && len(s.Contract.Required) == 0 && len(s.Contract.Checks) == 0 {
			s.Contract = nil
		}
	}
	if c.Steps == nil {
		c.Steps = []Step{}
	}
	return encode(c)
}

// Hash returns the SHA-256 of the canonical form, as "sha256:…". It is what an
// approval binds.
func Hash(p Plan) (string, error) {
	b, err := Canonical(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// canonicalJSON returns a JSON value with sorted keys and numbers as written.
// Null is the same as nothing.
func canonicalJSON(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	v, err := decodeValue(raw)
	if err != nil || v == nil {
		return nil, err
	}
	return encode(v)
}

// decodeValue reads exactly one JSON value, numbers as they are written.
func decodeValue(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

// encode writes v without escaping HTML, since what is hashed and sent to
// tools is not HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
