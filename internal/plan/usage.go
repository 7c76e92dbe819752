package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// USD is an amount of money in billionths of a US dollar, so that sums are
// exact. In JSON it is a number of dollars.
type USD int64

// Dollar is one US dollar.
const Dollar USD = 1_000_000_000

// DollarsOf converts dollars to USD, rounding to the nearest billionth.
func DollarsOf(d float64) USD { return USD(math.Round(d * float64(Dollar))) }

// Dollars returns the amount in dollars.
func (u USD) Dollars() float64 { return float64(u) / float64(Dollar) }

// MarshalJSON writes the amount as a number of dollars.
func (u USD) MarshalJSON() ([]byte, error) {
	return []byte(strconv.FormatFloat(u.Dollars(), 'f', -1, 64)), nil
}

// UnmarshalJSON reads a number of dollars.
func (u *USD) UnmarshalJSON(b []byte) error {
	var d float64
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("read an amount in dollars: %w", err)
	}
	if math.Abs(d) > 1e9 {
		return fmt.Errorf("read an amount in dollars: %v is out of range", d)
	}
	*u = DollarsOf(d)
	return nil
}

// Usage is what model calls used. Output tokens include thinking tokens,
// since they are charged.
type Usage struct {
	Requests     int `json:"requests"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CachedTokens are the part of the input tokens read from a cache, and
	// ThinkingTokens the part of the output tokens spent on thinking.
	CachedTokens   int `json:"cached_tokens,omitempty"`
	ThinkingTokens int `json:"thinking_tokens,omitempty"`
	TotalTokens    int `json:"total_tokens"`
	// CostUSD is nil when the price of one of the calls is unknown.
	CostUSD *USD `json:"cost_usd"`
}

// Add returns the sum of two usages. An unknown cost stays unknown.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Requests:       u.Requests + v.Requests,
		InputTokens:    u.InputTokens + v.InputTokens,
		OutputTokens:   u.OutputTokens + v.OutputTokens,
		CachedTokens:   u.CachedTokens + v.CachedTokens,
		ThinkingTokens: u.ThinkingTokens + v.ThinkingTokens,
		TotalTokens:    u.TotalTokens + v.TotalTokens,
	}
	switch {
	case u == Usage{}:
		sum.CostUSD = v.CostUSD
	case v == Usage{}:
		sum.CostUSD = u.CostUSD
	case u.CostUSD != nil && v.CostUSD != nil:
		c := *u.CostUSD + *v.CostUSD
		sum.CostUSD = &c
	}
	return sum
}

// Amount is what one reservation asks of a budget, dimension by dimension.
type Amount struct {
	Requests int `json:"requests,omitempty"`
	Tokens   int `json:"tokens,omitempty"`
	CostUSD  USD `json:"cost_usd,omitempty"`
	Steps    int `json:"steps,omitempty"`
}

// Plus returns the sum of two amounts.
func (a Amount) Plus(b Amount) Amount {
	return Amount{
		Requests: a.Requests + b.Requests, Tokens: a.Tokens + b.Tokens,
		CostUSD: a.CostUSD + b.CostUSD, Steps: a.Steps + b.Steps,
	}
}

// Minus returns a less b.
func (a Amount) Minus(b Amount) Amount {
	return Amount{
		Requests: a.Requests - b.Requests, Tokens: a.Tokens - b.Tokens,
		CostUSD: a.CostUSD - b.CostUSD, Steps: a.Steps - b.Steps,
	}
}

// Budget is the most a run may use. A nil dimension is unlimited.
type Budget struct {
	Requests *int `json:"requests"`
	Tokens   *int `json:"tokens"`
	CostUSD  *USD `json:"cost_usd"`
	Steps    *int `json:"steps"`
}

// The default limits of a run.
const (
	DefaultRequests    = 40
	DefaultTokens      = 200_000
	DefaultMaxSteps    = 6
	DefaultMaxParallel = 5
	// MostSteps is the largest step limit that can be configured.
	MostSteps = 2_000
	// MostInstruction is the longest instruction, in characters.
	MostInstruction = 20_000
	// MostQuestion is the longest question, in characters.
	MostQuestion = 20_000
)

// DefaultBudget returns the budget of a run that names none.
func DefaultBudget() Budget {
	r, t := DefaultRequests, DefaultTokens
	return Budget{Requests: &r, Tokens: &t}
}
