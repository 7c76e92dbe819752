package model

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"planwave/internal/plan"
)

//go:embed prices.json
var pricesJSON []byte

// Price is what a model costs, in dollars per million tokens.
type Price struct {
	Input  plan.USD `json:"input"`
	Output plan.USD `json:"output"`
	// Cached is the price of input read from a cache; nil means that of input.
	Cached *plan.USD `json:"cached,omitempty"`
}

// Prices are the prices of models by their whole name, provider:model.
type Prices map[string]Price

// BuiltinPrices returns the prices that the program comes with.
func BuiltinPrices() Prices {
	p, err := ReadPrices(pricesJSON)
	if err != nil {
		return Prices{} // every cost is unknown; a test holds that the file is right
	}
	return p
}

// ReadPrices reads a price table: a JSON object from provider:model to input,
// output and, optionally, cached, in dollars per million tokens.
func ReadPrices(data []byte) (Prices, error) {
	var raw map[string]struct {
		Input  *plan.USD `json:"input"`
		Output *plan.USD `json:"output"`
		Cached *plan.USD `json:"cached"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("read the price table: %w", err)
	}
	prices := Prices{}
	var errs []error
	for name, p := range raw {
		switch {
		case p.Input == nil || p.Output == nil:
			errs = append(errs, fmt.Errorf("read the price table: %s needs both input and output, in dollars per million tokens", name))
		case *p.Input < 0 || *p.Output < 0 || p.Cached != nil && *p.Cached < 0:
			errs = append(errs, fmt.Errorf("read the price table: %s has a negative price", name))
		default:
			prices[name] = Price{Input: *p.Input, Output: *p.Output, Cached: p.Cached}
		}
	}
	return prices, errors.Join(errs...)
}

// Cost returns what a usage of the model costs, to the nearest billionth of a
// dollar. It is nil when the price is unknown, never zero.
func (p Prices) Cost(name string, u plan.Usage) *plan.USD {
	price, ok := p[name]
	if !ok {
		return nil
	}
	cached := price.Input
	if price.Cached != nil {
		cached = *price.Cached
	}
	sum := new(big.Int)
	for _, part := range []struct {
		tokens int
		price  plan.USD
	}{
		{u.InputTokens - u.CachedTokens, price.Input},
		{u.CachedTokens, cached},
		{u.OutputTokens, price.Output},
	} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(part.tokens)), big.NewInt(int64(part.price))))
	}
	const million = 1_000_000
	sum.Add(sum, big.NewInt(million/2)).Div(sum, big.NewInt(million))
	usd := plan.USD(sum.Int64())
	return &usd
}
