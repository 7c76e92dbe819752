package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/model/gemini"
	"planwave/internal/model/openai"
	"planwave/internal/model/replay"
)

// newModels sets up the providers that there are settings for, and the demo.
func newModels(ctx context.Context, c config) (*model.Registry, error) {
	prices, err := readPrices(c.Prices)
	if err != nil {
		return nil, err
	}
	r := model.NewRegistry(model.Config{
		DefaultModel: c.Model, Prices: prices, RoleModels: c.RoleModels, CallTimeout: c.CallTimeout, Retry: c.Retry,
	})
	if err := register(ctx, r, c); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// withReplays adds the model that answers as recorded, and holds the models
// that are set against what there is.
func withReplays(r *model.Registry, store *db.DB) error {
	if err := r.Register(model.Replay, model.Provider{Model: replay.New(store.Trace)}); err != nil {
		return err
	}
	return r.Check()
}

// readPrices returns the built-in prices with those of the file, which win.
func readPrices(file string) (model.Prices, error) {
	prices := model.BuiltinPrices()
	if file == "" {
		return prices, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("read the price table %s: %w", file, err)
	}
	own, err := model.ReadPrices(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	maps.Copy(prices, own)
	return prices, nil
}

func register(ctx context.Context, r *model.Registry, c config) error {
	if c.GeminiKey != "" {
		m, err := gemini.New(ctx, gemini.Config{Key: c.GeminiKey, BaseURL: c.GeminiBaseURL})
		if err != nil {
			return fmt.Errorf("set up Gemini: %w", err)
		}
		if err := r.Register(model.Gemini, limited(c, model.Gemini, model.Provider{Model: m, DefaultModel: gemini.DefaultModel, Key: c.GeminiKey})); err != nil {
			return err
		}
	}
	if c.OpenAIKey != "" || c.OpenAIBaseURL != "" {
		m, err := openai.New(openai.Config{Key: c.OpenAIKey, BaseURL: c.OpenAIBaseURL})
		if err != nil {
			return fmt.Errorf("set up the OpenAI-compatible provider: %w", err)
		}
		if err := r.Register(model.OpenAI, limited(c, model.OpenAI, model.Provider{Model: m, DefaultModel: openAIDefault(c), Key: c.OpenAIKey})); err != nil {
			return err
		}
	}
	pace := demo.Watchable()
	if c.demoAtOnce {
		pace = demo.Pace{}
	}
	return r.Register(model.Demo, limited(c, model.Demo, model.Provider{Model: demo.New(pace)}))
}

// limited returns the provider with its limits. Those of a minute are of
// servers: the demo has one only where it is named.
func limited(c config, name string, p model.Provider) model.Provider {
	p.InFlight, p.RequestsPerMinute, p.TokensPerMinute = c.InFlight.of(name), c.Requests.of(name), c.Tokens.of(name)
	if name == model.Demo {
		p.RequestsPerMinute, p.TokensPerMinute = c.Requests[name], c.Tokens[name]
	}
	return p
}

// openAIDefault is the model that is asked when none is named: only OpenAI's
// own server is known to have it.
func openAIDefault(c config) string {
	if c.OpenAIBaseURL == "" {
		return "gpt-4.1-mini"
	}
	return ""
}
