package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// fake is a tool whose answers are code.
type fake struct {
	info Info
	call func(ctx context.Context, args json.RawMessage) (Result, error)
}

func (f fake) Info() Info { return f.info }

func (f fake) Call(ctx context.Context, args json.RawMessage) (Result, error) {
	if f.call == nil {
		return Result{Text: string(args)}, nil
	}
	return f.call(ctx, args)
}

// echo is a tool that answers with the arguments it got.
func echo(name, schema string) fake {
	return fake{info: Info{Name: name, Schema: json.RawMessage(schema)}}
}

func registry(t *testing.T, list ...Tool) *Registry {
	t.Helper()
	r, err := New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func call(t *testing.T, r *Registry, name, args string) Result {
	t.Helper()
	out, err := r.Call(t.Context(), name, json.RawMessage(args))
	if err != nil {
		t.Fatalf("call %s with %s: %v", name, args, err)
	}
	return out
}

// mentions fails unless text holds every one of the words.
func mentions(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%.2000q does not mention %q", text, w)
		}
	}
}
