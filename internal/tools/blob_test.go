package tools_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"planwave/internal/tools"
)

func TestModelsAreNotToldBlobs(t *testing.T) { // BEHAVIOUR 4.7
	picture := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00PNG by somebody, 640x480", 48)))
	long := strings.Repeat("word ", 300)
	tests := map[string]struct{ data, want string }{
		"a picture":          {`{"content":[{"data":"` + picture + `","type":"image"}]}`, `{"content":[{"data":"[1200 bytes as base64, left out here; they are whole in the trace]","type":"image"}]}`},
		"a long text":        {`{"text":"` + long + `"}`, `{"text":"` + long + `"}`},
		"a short id":         {`{"id":"aGVsbG8="}`, `{"id":"aGVsbG8="}`},
		"numbers as written": {`{"n":1.50,"data":"` + picture + `"}`, `{"data":"[1200 bytes as base64, left out here; they are whole in the trace]","n":1.50}`},
		"one character":      {`{"x":"` + strings.Repeat("x", 900) + `"}`, `{"x":"` + strings.Repeat("x", 900) + `"}`},
		"no JSON":            {picture, picture},
	}
	for name, tt := range tests {
		if got := string(tools.WithoutBlobs([]byte(tt.data))); got != tt.want {
			t.Errorf("%s: %.200s", name, got)
		}
	}
}
