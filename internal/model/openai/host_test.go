package openai

import (
	"strings"
	"testing"

	"planwave/internal/model"
)

// The name of the token limit that is tried first depends on whose server it
// is; OpenAI's own is not asked in tests.
func TestOpenAIsOwnServerIsAskedInItsOwnWords(t *testing.T) {
	for base, want := range map[string]string{
		"": `"max_completion_tokens":5`, "https://api.openai.com/v1": `"max_completion_tokens":5`, "http://127.0.0.1:1/v1": `"max_tokens":5`,
		"https://api.openai.com.example.org/v1": `"max_tokens":5`,
	} {
		c, err := New(Config{Key: "k", BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		req := model.Request{Model: "m", MaxOutputTokens: 5, Messages: []model.Message{{Speaker: model.User, Text: "a"}}}
		body, err := c.habits.request(req, c.habits.of(req))
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%q is sent %s, %v, want %s", base, body, err, want)
		}
		if base == "" && c.url != DefaultBaseURL+"/chat/completions" {
			t.Errorf("the address is %s", c.url)
		}
	}
}
