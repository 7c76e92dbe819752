package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"planwave/internal/model"
	"planwave/internal/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// named answers with its own name and that of the model it is asked for.
func named(name string) model.Model {
	return model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		return model.Response{Text: name + " " + req.Model}, nil
	})
}

func registry(t *testing.T, c model.Config, providers ...string) *model.Registry {
	t.Helper()
	r := model.NewRegistry(c)
	for _, name := range providers {
		p := model.Provider{Model: named(name), DefaultModel: name + "-1"}
		if name == model.Demo {
			p.DefaultModel = ""
		}
		if err := r.Register(name, p); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestResolve(t *testing.T) {
	r := registry(t, model.Config{}, model.Demo, model.Gemini, model.OpenAI)
	for name, want := range map[string]string{
		"gemini:gemini-x": "gemini gemini-x", "openai:llama3.2:3b": "openai llama3.2:3b", "gemini": "gemini gemini-1", " openai: ": "openai openai-1",
		"demo": "demo ", "demo:": "demo ",
	} {
		m, short, err := r.Resolve(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		resp, err := m.Generate(t.Context(), model.Request{Model: short})
		if err != nil || resp.Text != want {
			t.Errorf("%q is %q, %v, want %q", name, resp.Text, err, want)
		}
	}
}

func TestResolveSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		providers []string
		name      string
		says      []string
	}{
		{[]string{model.Demo}, "gemini:x", []string{`"gemini:x"`, "configured are demo", "GEMINI_API_KEY"}},
		{[]string{model.Demo, model.Gemini}, "openai:x", []string{"configured are gemini, demo", "OPENAI_API_KEY", "OPENAI_BASE_URL"}},
		{[]string{model.Demo}, "gpt-5", []string{"provider:model", "configured are demo"}},
		{nil, "", []string{"nothing is configured"}},
		{[]string{model.Demo}, "demo:big", []string{"The demo is one model"}},
		{[]string{model.Demo}, strings.Repeat("x", 5_000), []string{"…"}},
	} {
		_, _, err := registry(t, model.Config{}, c.providers...).Resolve(c.name)
		e, ok := errors.AsType[*plan.Error](err)
		if !ok || e.Code != plan.CodeInvalid || len(e.Message) > 500 {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(e.Message, says) {
				t.Errorf("%q: the message %q does not say %s", c.name, e.Message, says)
			}
		}
	}
	r := model.NewRegistry(model.Config{})
	if err := r.Register("local", model.Provider{Model: named("local")}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Resolve("local"); err == nil || !strings.Contains(err.Error(), "local:NAME") {
		t.Errorf("a provider without a default model: %v", err)
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		config    model.Config
		providers []string
		want      string // planner and executor
	}{
		{model.Config{}, nil, "demo demo"},
		{model.Config{}, []string{model.Demo}, "demo demo"},
		{model.Config{}, []string{model.Demo, model.Gemini, model.OpenAI}, "gemini:gemini-1 gemini:gemini-1"},
		{model.Config{}, []string{model.OpenAI, model.Demo}, "openai:openai-1 openai:openai-1"},
		{model.Config{DefaultModel: "demo"}, []string{model.OpenAI, model.Demo}, "demo demo"},
		{model.Config{DefaultModel: "demo", RoleModels: map[plan.Role]string{plan.RolePlanner: "openai:big"}}, []string{model.OpenAI, model.Demo}, "openai:big demo"},
	} {
		r := registry(t, c.config, c.providers...)
		if got := r.Default(plan.RolePlanner) + " " + r.Default(plan.RoleExecutor); got != c.want {
			t.Errorf("%+v with %v: %s, want %s", c.config, c.providers, got, c.want)
		}
		if only := !slices.ContainsFunc(c.providers, func(p string) bool { return p != model.Demo }); r.DemoOnly() != only {
			t.Errorf("with %v, only the demo is %v", c.providers, r.DemoOnly())
		}
	}
}

func TestCheckNamesTheVariables(t *testing.T) {
	roles := map[plan.Role]string{plan.RolePlanner: "openai:x", plan.RoleJudge: "demo"}
	err := registry(t, model.Config{DefaultModel: "gpt", RoleModels: roles}, model.Demo).Check()
	if err == nil || !strings.Contains(err.Error(), "PLANWAVE_MODEL is wrong") || !strings.Contains(err.Error(), "PLANWAVE_MODEL_PLANNER is wrong") || strings.Contains(err.Error(), "JUDGE") {
		t.Errorf("Check() = %v", err)
	}
	if err := registry(t, model.Config{DefaultModel: "demo"}, model.Demo).Check(); err != nil {
		t.Errorf("Check() = %v", err)
	}
}

func TestRegisterRefuses(t *testing.T) {
	r := registry(t, model.Config{}, model.Demo)
	for name, p := range map[string]model.Provider{
		"": {Model: named("x")}, "a:b": {Model: named("x")}, "a b": {Model: named("x")}, model.Demo: {Model: named("x")}, "empty": {},
	} {
		if err := r.Register(name, p); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("Register(%q) = %v", name, err)
		}
	}
	if names := r.Names(); !slices.Equal(names, []string{"demo"}) {
		t.Errorf("names = %v", names)
	}
}

func TestProvidersAreTold(t *testing.T) {
	r := registry(t, model.Config{CallTimeout: time.Minute, PerProviderInFlight: 3}, model.Demo, model.Gemini)
	if err := r.Register("own", model.Provider{Model: named("own"), InFlight: 1}); err != nil {
		t.Fatal(err)
	}
	want := []model.Info{
		{Name: "gemini", DefaultModel: "gemini:gemini-1", InFlight: 3, Timeout: time.Minute},
		{Name: "own", DefaultModel: "own", InFlight: 1, Timeout: time.Minute},
		{Name: "demo", DefaultModel: "demo", InFlight: 3, Timeout: time.Minute},
	}
	if got := r.Providers(); !slices.Equal(got, want) {
		t.Errorf("providers = %+v", got)
	}
	if got := model.NewRegistry(model.Config{}); got.Register("x", model.Provider{Model: named("x")}) != nil || got.Providers()[0].InFlight != model.DefaultInFlight {
		t.Errorf("providers = %+v", got.Providers())
	}
}

// closing is a model with connections.
type closing struct {
	model.Model
	closed int
	err    error
}

func (c *closing) Close() error { c.closed++; return c.err }

func TestCloseClosesEveryProvider(t *testing.T) {
	r := registry(t, model.Config{}, model.Demo)
	a, b := &closing{Model: named("a"), err: errors.New("stuck")}, &closing{Model: named("b")}
	if err := errors.Join(r.Register("a", model.Provider{Model: a}), r.Register("b", model.Provider{Model: b})); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, a.err) || a.closed != 1 || b.closed != 1 {
		t.Errorf("Close() = %v, closed %d and %d times", err, a.closed, b.closed)
	}
}

func TestLimitsHoldForAllWhoResolve(t *testing.T) { // BEHAVIOUR 5.4
	synctest.Test(t, func(t *testing.T) {
		w := waiting{make(chan struct{}, 10)}
		r := model.NewRegistry(model.Config{PerProviderInFlight: 2})
		if err := errors.Join(r.Register("p", model.Provider{Model: w, DefaultModel: "m"}), r.Register("q", model.Provider{Model: named("q")})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 5)
		for i := range 5 {
			go func() {
				m, short, err := r.Resolve(fmt.Sprintf("p:m%d", i))
				if err == nil {
					_, err = m.Generate(ctx, model.Request{Model: short})
				}
				done <- err
			}()
		}
		synctest.Wait()
		if n := len(w.there); n != 2 {
			t.Errorf("%d requests are out, 2 is the limit", n)
		}
		q, _, _ := r.Resolve("q:m")
		if _, err := q.Generate(ctx, model.Request{}); err != nil {
			t.Errorf("another provider waits, too: %v", err)
		}
		cancel()
		for range 5 {
			if err := <-done; kindOf(err) != model.Cancelled {
				t.Error(err)
			}
		}
	})
}
