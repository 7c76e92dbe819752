package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planwave/internal/model"
)

// asProgram is set in the environment of a test binary that is to be the
// program itself, for tests that kill it.
const asProgram = "PLANWAVE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestWrongSettingsStopTheStart(t *testing.T) {
	tests := map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"address without port":  {env: map[string]string{"PLANWAVE_ADDR": "127.0.0.1"}, want: `PLANWAVE_ADDR is "127.0.0.1": it must be host:port`},
		"address for everybody": {args: []string{"-addr", "0.0.0.0:8080"}, want: "loopback only"},
		"address of a network":  {args: []string{"-addr", ":8080"}, want: "loopback only"},
		"log-in not there":      {env: map[string]string{"PLANWAVE_AUTH": "passwort"}, want: `PLANWAVE_AUTH is "passwort"`},
		"no database":           {args: []string{"-db", ""}, want: "PLANWAVE_DB"},
		"no duration":           {env: map[string]string{"PLANWAVE_CALL_TIMEOUT": "soon"}, want: "must be a duration"},
		"negative duration":     {args: []string{"-call-timeout", "-3s"}, want: "must be a duration"},
		"nothing in flight":     {args: []string{"-in-flight", "0"}, want: `PLANWAVE_IN_FLIGHT is "0": it must be a number above zero`},
		"a provider not there":  {args: []string{"-in-flight", "16,acme=2"}, want: "as 16,openai=2"},
		"a provider twice":      {args: []string{"-requests-per-minute", "openai=1,openai=2"}, want: `PLANWAVE_REQUESTS_PER_MINUTE is "openai=1,openai=2"`},
		"no tokens":             {env: map[string]string{"PLANWAVE_TOKENS_PER_MINUTE": "gemini=lots"}, want: `PLANWAVE_TOKENS_PER_MINUTE is "gemini=lots"`},
		"no tries":              {env: map[string]string{"PLANWAVE_TRIES": "0"}, want: `PLANWAVE_TRIES is "0": it must be a number above zero, as 5`},
		"no wait":               {args: []string{"-max-wait", "long"}, want: `PLANWAVE_MAX_WAIT is "long": it must be a duration above zero, as 5m`},
		"no amount":             {env: map[string]string{"PLANWAVE_COST_LIMIT": "cheap"}, want: "amount in dollars"},
		"nothing to spend":      {args: []string{"-cost-limit", "0"}, want: "amount in dollars"},
		"no address":            {env: map[string]string{"OPENAI_BASE_URL": "ollama"}, want: "http or https address"},
		"log level":             {args: []string{"-log-level", "loud"}, want: "debug, info, warn or error"},
		"samples":               {env: map[string]string{"PLANWAVE_SAMPLES": "some"}, want: `PLANWAVE_SAMPLES is "some": it must be on or off`},
		"retention":             {args: []string{"-retention", "soon"}, want: `PLANWAVE_RETENTION is "soon": it must be a number of days above zero, as 90d`},
		"retention of nothing":  {env: map[string]string{"PLANWAVE_RETENTION": "0d"}, want: `PLANWAVE_RETENTION is "0d"`},
		"retention for ever":    {args: []string{"-retention", "99999999d"}, want: `PLANWAVE_RETENTION is "99999999d"`},
		"time to end":           {args: []string{"-shutdown-grace", "-1s"}, want: `PLANWAVE_SHUTDOWN_GRACE is "-1s": it must be a duration, as 20s`},
		"no collector":          {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, want: "http or https address"},
		"unknown flag":          {args: []string{"-colour", "red"}, want: "not defined: -colour"},
		"stray argument":        {args: []string{"serve"}, want: `unexpected argument "serve"`},
		"no network":            {env: map[string]string{"PLANWAVE_FETCH_ALLOW": "10.0.0.0/99"}, want: `PLANWAVE_FETCH_ALLOW is "10.0.0.0/99"`},
		"no tool servers":       {args: []string{"-addr", "127.0.0.1:0", "-mcp", "nowhere.json"}, want: "nowhere.json"},
		"no price table":        {args: []string{"-addr", "127.0.0.1:0", "-prices", "nowhere.json"}, want: "read the price table nowhere.json"},
		"no prompts":            {args: []string{"-addr", "127.0.0.1:0", "-prompts", "nowhere"}, want: "read the prompts in nowhere"},
		"unknown provider":      {args: []string{"-addr", "127.0.0.1:0", "-model", "acme:large"}, want: "acme"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			args := tt.args
			if name == "unknown provider" {
				args = append(args, "-db", t.TempDir()+"/p.db")
			}
			code := run(args, func(k string) string { return tt.env[k] }, &out, &errOut)
			if code == 0 {
				t.Errorf("exit status 0")
			}
			if !strings.Contains(errOut.String(), tt.want) {
				t.Errorf("said %q, want it to say %q", errOut.String(), tt.want)
			}
		})
	}
}

func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	_, err := readConfig([]string{"-addr", "x", "-call-timeout", "y"}, func(string) string { return "" }, &bytes.Buffer{})
	for _, want := range []string{"PLANWAVE_ADDR", "PLANWAVE_CALL_TIMEOUT"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want it to name %s", err, want)
		}
	}
}

func TestHelpListsEverySettingAndNoKey(t *testing.T) {
	var errOut bytes.Buffer
	env := func(k string) string { return map[string]string{"GEMINI_API_KEY": "very-secret"}[k] }
	if code := run([]string{"-h"}, env, &bytes.Buffer{}, &errOut); code != 0 {
		t.Errorf("exit status %d", code)
	}
	var c config
	for _, s := range c.list() {
		if !strings.Contains(errOut.String(), "["+s.env+"]") {
			t.Errorf("-h does not tell of %s", s.env)
		}
	}
	if strings.Contains(errOut.String(), "very-secret") {
		t.Error("-h prints the key")
	}
}

func TestFlagBeatsEnvironment(t *testing.T) {
	env := func(k string) string {
		return map[string]string{"PLANWAVE_DB": "env.db", "PLANWAVE_MODEL_JUDGE": "demo", "OPENAI_API_KEY": "k"}[k]
	}
	c, err := readConfig([]string{"-db", "flag.db"}, env, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if c.DB != "flag.db" || c.RoleModels["judge"] != "demo" || c.OpenAIKey != "k" {
		t.Errorf("config = %+v", c)
	}
}

func TestHowLongRunsAreKept(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "90d": 90 * 24 * time.Hour, "36h": 36 * time.Hour} {
		c, err := readConfig([]string{"-retention", text}, func(string) string { return "" }, &bytes.Buffer{})
		if err != nil || c.Retention != want || c.ShutdownGrace != 20*time.Second {
			t.Errorf("%q: kept for %s, %s to end, %v", text, c.Retention, c.ShutdownGrace, err)
		}
	}
}

func TestLimitsOfEachProvider(t *testing.T) { // BEHAVIOUR 5.4, 11
	args := []string{
		"-gemini-api-key", "k", "-openai-base-url", "http://127.0.0.1:1/v1", "-in-flight", "16, openai=2", "-requests-per-minute", "60,gemini=15",
		"-tokens-per-minute", "gemini=250000",
	}
	c, err := readConfig(args, func(string) string { return "" }, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := newModels(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	type limits struct{ inFlight, requests, tokens int }
	want := map[string]limits{model.Gemini: {16, 15, 250_000}, model.OpenAI: {2, 60, 0}, model.Demo: {16, 0, 0}}
	for _, p := range r.Providers() {
		if got := (limits{p.InFlight, p.RequestsPerMinute, p.TokensPerMinute}); got != want[p.Name] {
			t.Errorf("%s: %+v, want %+v", p.Name, got, want[p.Name])
		}
	}
	if c.Retry.Tries != model.DefaultTries || c.Retry.MaxWait != model.DefaultMaxWait {
		t.Errorf("retries: %+v", c.Retry)
	}
}
