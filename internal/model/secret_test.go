package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"planwave/internal/model"
)

func TestScrubTakesKeysOutInEveryForm(t *testing.T) { // BEHAVIOUR 11
	const key = `sk-proj+/&"=0123456789`
	s := model.Server{Key: key}
	for text, want := range map[string]string{
		"key " + key + "!":                             "key [key]!",
		"?key=sk-proj%2B%2F%26%22%3D0123456789&x=1":    "?key=[key]&x=1",
		"/sk-proj+%2F&%22=0123456789/x":                "/[key]/x",
		`{"k":"sk-proj+/\u0026\"=0123456789"}`:         `{"k":"[key]"}`,
		"cut off: sk-proj+/&…":                         "cut off: [key]…",
		"twice sk-proj+/ and " + key:                   "twice [key] and [key]",
		"Incorrect API key provided: sk-pr***6789. Go": "Incorrect API key provided: [key]. Go",
		"Received API Key = sk-...6789, Hash x":        "Received API Key = [key], Hash x",
		"wait... sk is short, and so is sk-x":          "wait... sk is short, and so is sk-x",
		"":                                             "",
	} {
		if got := s.Scrub(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestARegistryLetsNoKeyThrough(t *testing.T) { // BEHAVIOUR 11
	const key = "sk-very-secret-0123456789"
	wrapped := &model.Error{Kind: model.Auth, Status: 401, Message: "No " + key, Cause: errors.New("sent " + key)}
	clean := &model.Error{Kind: model.Auth, Message: "No.", Cause: context.Canceled}
	for name, c := range map[string]struct {
		resp model.Response
		err  error
		want string
	}{
		"answer": {resp: model.Response{
			Text: "a " + key, Model: key,
			Calls: []model.ToolCall{{ID: key, Name: key, Arguments: json.RawMessage(`{"k":"` + key + `"}`)}},
		}, want: "a [key]"},
		"failure":       {err: wrapped, want: "model: auth: No [key]: sent [key]"},
		"other failure": {err: errors.New("sent " + key), want: "sent [key]"},
		"clean failure": {err: clean, want: clean.Error()},
	} {
		r := model.NewRegistry(model.Config{})
		m := model.Func(func(context.Context, model.Request) (model.Response, error) { return c.resp, c.err })
		if err := r.Register("p", model.Provider{Model: m, DefaultModel: "m", Key: key}); err != nil {
			t.Fatal(err)
		}
		limited, _, err := r.Resolve("p")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := limited.Generate(t.Context(), model.Request{})
		b, marshalErr := json.Marshal(resp)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		got := resp.Text
		if err != nil {
			got = err.Error()
		}
		if got != c.want || strings.Contains(string(b), key) {
			t.Errorf("%s: %q with %s, want %q", name, got, b, c.want)
		}
		if name == "clean failure" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
		if e, ok := errors.AsType[*model.Error](err); name == "failure" && (!ok || e.Status != 401 || e.Kind != model.Auth) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestNoKeyIsTold(t *testing.T) { // BEHAVIOUR 11
	const key = "sk-very-secret-0123456789-sk-"
	for want, pieces := range map[string][]string{
		"a [key] b":           {"", "a sk-very-sec", "ret-0123456789-s", "k- b"},
		"[key][key]":          {"", key, key},
		"one":                 {"", key, "", "one"},
		"sk-very nice":        {"", "sk-very", " nice"},
		"ends like it: sk-ve": {"", "ends like it: ", "sk-", "ve"},
		"[key]very":           {"", key[:20], key[20:] + "very"},
		"":                    {""},
	} {
		whole := ""
		r := model.NewRegistry(model.Config{})
		m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			for _, piece := range pieces {
				if whole += piece; piece == "" {
					whole = ""
				}
				req.OnText(piece)
			}
			return model.Response{Text: whole}, nil
		})
		if err := r.Register("p", model.Provider{Model: m, DefaultModel: "m", Key: key}); err != nil {
			t.Fatal(err)
		}
		limited, _, err := r.Resolve("p")
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		resp, err := limited.Generate(t.Context(), model.Request{OnText: func(piece string) {
			if told += piece; piece == "" {
				told = ""
			}
			if strings.Contains(told, "secret") {
				t.Errorf("told %q", told)
			}
		}})
		if err != nil || told != want || resp.Text != want {
			t.Errorf("told %q, answered %q, %v, want %q", told, resp.Text, err, want)
		}
	}
}
