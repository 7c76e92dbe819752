package model_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"planwave/internal/model"
	"planwave/internal/plan"
)

func server() model.Server {
	return model.Server{Name: "The server", Address: "host:1", KeyVariable: "SOME_KEY", URLVariable: "SOME_URL", Key: "secret-key"}
}

func TestFailuresSayWhatToDo(t *testing.T) { // BEHAVIOUR 11
	s := server()
	for status, want := range map[int]struct {
		kind model.Kind
		code plan.Code
		says []string
	}{
		http.StatusUnauthorized:       {model.Auth, plan.CodeModelAuth, []string{"SOME_KEY", "(HTTP 401)", ": it is secret"}},
		http.StatusForbidden:          {model.Auth, plan.CodeModelAuth, []string{"SOME_KEY"}},
		http.StatusPaymentRequired:    {model.Auth, plan.CodeModelAuth, []string{"paid"}},
		http.StatusTooManyRequests:    {model.RateLimited, plan.CodeModelRateLimited, []string{"Try again later", "It asks to wait 1m30s."}},
		http.StatusServiceUnavailable: {model.Unavailable, plan.CodeModelUnreachable, []string{"Try again later"}},
		http.StatusRequestTimeout:     {model.Unavailable, plan.CodeModelUnreachable, []string{"Try again later"}},
		http.StatusNotFound:           {model.BadResponse, plan.CodeModelBadResponse, []string{"the model's name", "SOME_URL"}},
		http.StatusFound:              {model.BadResponse, plan.CodeModelBadResponse, []string{"SOME_URL"}},
		http.StatusBadRequest:         {model.BadResponse, plan.CodeModelBadResponse, []string{"refused the request"}},
	} {
		e := s.FromStatus(status, http.Header{"Retry-After": {"90"}}, " it is secret. secret-key ", 0)
		if e.Kind != want.kind || e.Shown().Code != want.code || e.Status != status || strings.Contains(e.Error(), "secret-key") {
			t.Errorf("%d: %+v", status, e)
		}
		for _, says := range want.says {
			if !strings.Contains(e.Message, says) {
				t.Errorf("%d: the message %q does not say %s", status, e.Message, says)
			}
		}
	}
	if e := s.FromStatus(500, nil, strings.Repeat("ß", 1_000)+"secret-key", 0); len([]rune(e.Message)) > 500 || !strings.Contains(e.Message, "ß…") {
		t.Errorf("a long detail gives %d characters", len([]rune(e.Message)))
	}
	// A key that a cut would halve is taken out before.
	if e := s.FromStatus(500, nil, strings.Repeat("x", 295)+"secret-key", 0); strings.Contains(e.Message, "secre") {
		t.Errorf("the message is %q", e.Message)
	}
}

func TestConnectionsThatFailSayWhy(t *testing.T) {
	s := server()
	for says, err := range map[string]error{
		"refused":           fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"broken off":        syscall.ECONNRESET,
		"no host far.away":  &net.DNSError{Name: "far.away"},
		"certificate [key]": fmt.Errorf("outer: %w", errors.New("certificate secret-key")),
	} {
		e := s.FromTransport(t.Context(), err)
		if e.Kind != model.Unreachable || !strings.Contains(e.Message, says) || !strings.Contains(e.Message, "host:1") || strings.Contains(e.Error(), "secret-key") {
			t.Errorf("%v: %v, want %q", err, e, says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e := s.FromTransport(ctx, syscall.ECONNRESET); e.Kind != model.Cancelled || !errors.Is(e, context.Canceled) {
		t.Errorf("with an ended context: %v", e)
	}
}

func TestShortKeysAreNoKeys(t *testing.T) {
	s := server()
	for key, want := range map[string]string{"": "an ollama", "x": "an ollama", "ollama": "an [key]"} {
		s.Key = key
		if got := s.Scrub("an ollama"); got != want {
			t.Errorf("key %q: %q, want %q", key, got, want)
		}
	}
}

func TestErrorDetails(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m","code":1}}`: "m", `{"error":"m"}`: "m", `[{"error":{"message":"m"}}]`: "m", `{"message":"m"}`: "m", `{"detail":"m"}`: "m",
		`{"detail":[{"msg":"m","loc":["body"]}]}`: "m", `{"object":"error","message":"m"}`: "m", `{"error":{"error":"m"}}`: "m", ` m `: "m", ``: "", `{}`: "",
		`<html>m</html>`: "", `"m"`: "m", `{"error":null}`: "", `{"error":null,"message":"m"}`: "m", `{"error":{"code":5}}`: "", `[]`: "",
	} {
		if got := model.ErrorDetail([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
