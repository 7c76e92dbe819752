package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/model"
)

// perProvider is a number for each provider; that of the empty name holds for
// those that have none of their own. 0 is no number.
type perProvider map[string]int

// of returns the number of a provider.
func (p perProvider) of(provider string) int {
	if n, ok := p[provider]; ok {
		return n
	}
	return p[""]
}

// readPerProvider reads 16, or gemini=15, or both with commas between.
func readPerProvider(text string) (perProvider, error) {
	p := perProvider{}
	if text == "" {
		return p, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			name, value = "", name
		}
		name = strings.TrimSpace(name)
		n, err := strconv.Atoi(strings.TrimSpace(value))
		_, twice := p[name]
		known := slices.Contains([]string{model.Gemini, model.OpenAI, model.Demo}, name)
		if err != nil || n < 1 || twice || named && !known {
			return nil, errors.New("it must be a number above zero, as 16, or one for each provider (gemini, openai, demo), as 16,openai=2")
		}
		p[name] = n
	}
	return p, nil
}
