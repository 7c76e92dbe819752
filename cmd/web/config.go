package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"planwave/internal/guard"
	"planwave/internal/handlers"
	"planwave/internal/model"
	"planwave/internal/plan"
)

// config is everything that can be set, by flag or by environment variable.
type config struct {
	Addr, DB      string
	Model         string
	RoleModels    map[plan.Role]string
	GeminiKey     string
	GeminiBaseURL string
	OpenAIKey     string
	OpenAIBaseURL string
	CostLimit     *plan.USD
	CallTimeout   time.Duration
	InFlight      perProvider
	Requests      perProvider // a minute
	Tokens        perProvider // a minute
	Retry         model.RetryConfig
	Prompts       string
	FetchAllow    []netip.Prefix
	MCP           string
	Prices        string
	Access        handlers.Access
	LogLevel      slog.Level
	Retention     time.Duration // 0 keeps runs for ever
	ShutdownGrace time.Duration
	OTLPEndpoint  string
	retention     string
	shutdownGrace string
	costLimit     string
	callTimeout   string
	inFlight      string
	requests      string
	tokens        string
	tries         string
	maxWait       string
	fetchAllow    string
	logLevel      string
	samples       string
	auth          string
	proxies       string
	baseURL       string
	Samples       bool
	demoAtOnce    bool // tests: the demo model takes no time
}

// setting is one thing that can be set: by flag, else by variable, else the
// default.
type setting struct {
	flag, env, preset, help string
	into                    *string
	secret                  bool
}

func (c *config) list() []setting {
	s := []setting{
		{flag: "addr", env: "PLANWAVE_ADDR", preset: "127.0.0.1:8080", into: &c.Addr, help: "listen address"},
		{flag: "db", env: "PLANWAVE_DB", preset: "planwave.db", into: &c.DB, help: "database file"},
		{flag: "model", env: "PLANWAVE_MODEL", into: &c.Model, help: "default model, provider:model (default: the first configured provider's, else demo)"},
		{flag: "gemini-api-key", env: "GEMINI_API_KEY", into: &c.GeminiKey, help: "key of the Gemini provider", secret: true},
		{flag: "gemini-base-url", env: "GEMINI_BASE_URL", into: &c.GeminiBaseURL, help: "address of the Gemini API (default: Google's)"},
		{flag: "openai-api-key", env: "OPENAI_API_KEY", into: &c.OpenAIKey, help: "key of the OpenAI-compatible provider", secret: true},
		{flag: "openai-base-url", env: "OPENAI_BASE_URL", into: &c.OpenAIBaseURL, help: "address of any OpenAI-compatible server, as http://127.0.0.1:11434/v1 (default: OpenAI's)"},
		{flag: "cost-limit", env: "PLANWAVE_COST_LIMIT", into: &c.costLimit, help: "default cost_usd of a run's budget, in dollars (default: none)"},
		{flag: "call-timeout", env: "PLANWAVE_CALL_TIMEOUT", preset: "120s", into: &c.callTimeout, help: "one model call at most"},
		{flag: "in-flight", env: "PLANWAVE_IN_FLIGHT", preset: strconv.Itoa(model.DefaultInFlight), into: &c.inFlight, help: "model calls to one provider at the same time, at most; 16,openai=2 for one of its own"},
		{flag: "requests-per-minute", env: "PLANWAVE_REQUESTS_PER_MINUTE", into: &c.requests, help: "model calls to one provider in a minute, at most, as 60 or gemini=15,openai=500 (default: no limit)"},
		{flag: "tokens-per-minute", env: "PLANWAVE_TOKENS_PER_MINUTE", into: &c.tokens, help: "tokens of one provider in a minute, at most, as gemini=250000 (default: no limit)"},
		{flag: "tries", env: "PLANWAVE_TRIES", preset: strconv.Itoa(model.DefaultTries), into: &c.tries, help: "how often a model call is made at most while the provider is down or asks to wait; 1 is once"},
		{flag: "max-wait", env: "PLANWAVE_MAX_WAIT", preset: model.DefaultMaxWait.String(), into: &c.maxWait, help: "how long one model call waits between its tries, all waits together"},
		{flag: "prices", env: "PLANWAVE_PRICES", into: &c.Prices, help: "price table, as {\"openai:qwen3\": {\"input\": 0.1, \"output\": 0.4}} in dollars per million tokens, beside the built-in one"},
		{flag: "mcp", env: "PLANWAVE_MCP", into: &c.MCP, help: "mcp.json whose mcpServers bring further tools"},
		{flag: "prompts", env: "PLANWAVE_PROMPTS", into: &c.Prompts, help: "folder whose planner.txt, executor.txt and synthesizer.txt replace the built-in prompts"},
		{flag: "fetch-allow", env: "PLANWAVE_FETCH_ALLOW", into: &c.fetchAllow, help: "addresses or networks that fetch_url may reach although private, as 10.1.0.0/16,192.168.1.7 (default: none)"},
		{flag: "samples", env: "PLANWAVE_SAMPLES", preset: "on", into: &c.samples, help: "on: a new database begins with two recorded runs of the demo model to look at; off: with none"},
		{flag: "retention", env: "PLANWAVE_RETENTION", into: &c.retention, help: "runs that ended longer ago are deleted, as 90d or 36h (default: none ever is)"},
		{flag: "shutdown-grace", env: "PLANWAVE_SHUTDOWN_GRACE", preset: "20s", into: &c.shutdownGrace, help: "how long the calls of models and tools that are being made may take when the program is told to end"},
		{flag: "otlp-endpoint", env: "OTEL_EXPORTER_OTLP_ENDPOINT", into: &c.OTLPEndpoint, help: "address of an OpenTelemetry collector that traces are sent to over HTTP, as http://127.0.0.1:4318 (default: none are made)"},
		{flag: "auth", env: "PLANWAVE_AUTH", preset: "off", into: &c.auth, help: "off: no log-in, loopback addresses only; password: people log in; header: a proxy says who is there"},
		{flag: "auth-header", env: "PLANWAVE_AUTH_HEADER", into: &c.Access.Header, help: "with -auth header, the header in which the proxy names the person, as X-Remote-User"},
		{flag: "auth-proxies", env: "PLANWAVE_AUTH_PROXIES", into: &c.proxies, help: "addresses or networks of proxies, whose requests may carry that header, X-Forwarded-For and X-Forwarded-Proto, as 127.0.0.1,10.1.0.0/16 (default: none)"},
		{flag: "base-url", env: "PLANWAVE_BASE_URL", into: &c.baseURL, help: "where browsers find the server, as https://planwave.example.com; its host is the one that is answered to (default: loopback only)"},
		{flag: "log-level", env: "PLANWAVE_LOG_LEVEL", preset: "info", into: &c.logLevel, help: "debug, info, warn or error"},
	}
	for _, role := range plan.Roles() {
		s = append(s, setting{
			flag: "model-" + string(role), env: "PLANWAVE_MODEL_" + strings.ToUpper(string(role)),
			into: new(string), help: "model of the " + string(role),
		})
	}
	return s
}

// readConfig reads flags and environment and refuses what cannot be meant. The
// error lists everything that is wrong.
func readConfig(args []string, env func(string) string, errOut io.Writer) (config, error) {
	var c config
	settings := c.list()
	flags := flag.NewFlagSet("planwave", flag.ContinueOnError)
	flags.SetOutput(errOut)
	for _, s := range settings {
		preset := s.preset
		if !s.secret {
			if v := env(s.env); v != "" {
				preset = v
			}
		}
		flags.StringVar(s.into, s.flag, preset, s.help+" ["+s.env+"]")
	}
	flags.Usage = func() {
		say(errOut, "planwave [flags]\tserves\n")
		for _, name := range slices.Sorted(maps.Keys(commands())) {
			say(errOut, "planwave %s [-db FILE] FILE\t%s\n", name, commands()[name].help)
		}
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q; all settings are flags, -h lists them", flags.Arg(0))
	}
	c.RoleModels = map[plan.Role]string{}
	for _, s := range settings {
		if s.secret && *s.into == "" {
			*s.into = env(s.env)
		}
		if role, ok := strings.CutPrefix(s.flag, "model-"); ok && *s.into != "" {
			c.RoleModels[plan.Role(role)] = *s.into
		}
	}
	return c, c.check()
}

// check turns texts into values and reports every one that is wrong.
func (c *config) check() error {
	var errs []error
	wrong := func(name, value, want string) {
		errs = append(errs, fmt.Errorf("%s is %q: %s", name, value, want))
	}
	c.checkAccess(wrong)
	if c.DB == "" {
		wrong("PLANWAVE_DB", c.DB, "it must name a file")
	}
	d, err := time.ParseDuration(c.callTimeout)
	if err != nil || d <= 0 {
		wrong("PLANWAVE_CALL_TIMEOUT", c.callTimeout, "it must be a duration above zero, as 120s")
	}
	c.CallTimeout = d
	c.checkLimits(wrong)
	if c.FetchAllow, err = guard.ParseAllow(c.fetchAllow); err != nil {
		wrong("PLANWAVE_FETCH_ALLOW", c.fetchAllow, err.Error())
	}
	if err := c.LogLevel.UnmarshalText([]byte(c.logLevel)); err != nil {
		wrong("PLANWAVE_LOG_LEVEL", c.logLevel, "it is debug, info, warn or error")
	}
	if c.costLimit != "" {
		var usd plan.USD
		if err := usd.UnmarshalJSON([]byte(c.costLimit)); err != nil || usd <= 0 {
			wrong("PLANWAVE_COST_LIMIT", c.costLimit, "it must be an amount in dollars above zero, as 0.50")
		}
		c.CostLimit = &usd
	}
	c.checkOperation(wrong)
	for name, v := range map[string]string{"GEMINI_BASE_URL": c.GeminiBaseURL, "OPENAI_BASE_URL": c.OpenAIBaseURL, "OTEL_EXPORTER_OTLP_ENDPOINT": c.OTLPEndpoint} {
		if u, err := url.Parse(v); v != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			wrong(name, v, "it must be an http or https address, as http://127.0.0.1:11434/v1")
		}
	}
	if c.Samples = c.samples == "on"; !c.Samples && c.samples != "off" {
		wrong("PLANWAVE_SAMPLES", c.samples, "it must be on or off")
	}
	return errors.Join(errs...)
}

// checkLimits reads what limits calls of models and tries them again.
func (c *config) checkLimits(wrong func(name, value, want string)) {
	for _, s := range []struct {
		name, value string
		into        *perProvider
	}{
		{"PLANWAVE_IN_FLIGHT", c.inFlight, &c.InFlight},
		{"PLANWAVE_REQUESTS_PER_MINUTE", c.requests, &c.Requests},
		{"PLANWAVE_TOKENS_PER_MINUTE", c.tokens, &c.Tokens},
	} {
		var err error
		if *s.into, err = readPerProvider(s.value); err != nil {
			wrong(s.name, s.value, err.Error())
		}
	}
	var err error
	if c.Retry.Tries, err = strconv.Atoi(c.tries); err != nil || c.Retry.Tries < 1 {
		wrong("PLANWAVE_TRIES", c.tries, "it must be a number above zero, as 5")
	}
	if c.Retry.MaxWait, err = time.ParseDuration(c.maxWait); err != nil || c.Retry.MaxWait <= 0 {
		wrong("PLANWAVE_MAX_WAIT", c.maxWait, "it must be a duration above zero, as 5m")
	}
}

// checkOperation reads for how long runs are kept and calls may go on.
func (c *config) checkOperation(wrong func(name, value, want string)) {
	var err error
	if c.retention != "" {
		if c.Retention, err = readDays(c.retention); err != nil || c.Retention <= 0 {
			wrong("PLANWAVE_RETENTION", c.retention, "it must be a number of days above zero, as 90d, or a duration, as 36h")
		}
	}
	if c.ShutdownGrace, err = time.ParseDuration(c.shutdownGrace); err != nil || c.ShutdownGrace < 0 {
		wrong("PLANWAVE_SHUTDOWN_GRACE", c.shutdownGrace, "it must be a duration, as 20s, or 0s for none")
	}
}

// mostDays is more than anybody means, and fewer than a duration can hold.
const mostDays = 36_500

// readDays reads a duration that may be a number of days, as 90d.
func readDays(text string) (time.Duration, error) {
	number, days := strings.CutSuffix(text, "d")
	if !days {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n > mostDays {
		return 0, errors.New("no number of days")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}
