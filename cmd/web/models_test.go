package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"planwave/internal/plan"
)

func TestAPriceTableOfOnesOwn(t *testing.T) { // BEHAVIOUR 8.4
	file := filepath.Join(t.TempDir(), "prices.json")
	table := `{"openai:qwen3": {"input": 1, "output": 2}, "openai:gpt-4o": {"input": 3, "output": 4}}`
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := readPrices(file)
	if err != nil {
		t.Fatal(err)
	}
	million := plan.Usage{InputTokens: 1_000_000}
	for name, want := range map[string]plan.USD{"openai:qwen3": plan.Dollar, "openai:gpt-4o": 3 * plan.Dollar, "demo": 0} {
		if got := prices.Cost(name, million); got == nil || *got != want {
			t.Errorf("a million tokens of %s cost %v, want %v", name, got, want.Dollars())
		}
	}
	if got := prices.Cost("openai:unheard-of", million); got != nil {
		t.Errorf("a model without a price costs %v: unknown, never zero", *got)
	}
	if err := os.WriteFile(file, []byte(`{"openai:qwen3": {"input": -1, "output": 2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readPrices(file); err == nil || !strings.Contains(err.Error(), "negative price") || !strings.Contains(err.Error(), file) {
		t.Errorf("a negative price: %v", err)
	}
}
