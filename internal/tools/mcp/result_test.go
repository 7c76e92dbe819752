package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/tools"
)

// read makes a result of what a server sent.
func read(t *testing.T, wire string, most int) tools.Result {
	t.Helper()
	var r sdk.CallToolResult
	if err := json.Unmarshal([]byte(wire), &r); err != nil {
		t.Fatal(err)
	}
	return readResult(&r, most)
}

// BEHAVIOUR 4.3, 4.4: results of all kinds become something that can be read.
func TestResultsOfAllKinds(t *testing.T) {
	tests := map[string]struct {
		wire string
		want tools.Result
	}{
		"text":        {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, tools.Result{Text: "a\nb"}},
		"an error":    {`{"content":[{"type":"text","text":"not found"}],"isError":true}`, tools.Result{Text: "not found", IsError: true}},
		"nothing":     {`{"content":[]}`, tools.Result{Text: "[nothing]"}},
		"empty text":  {`{"content":[{"type":"text","text":""}]}`, tools.Result{Text: "[nothing]"}},
		"data alone":  {`{"content":[],"structuredContent":{"n":1}}`, tools.Result{Text: `{"n":1}`, Data: []byte(`{"n":1}`)}},
		"data in two": {`{"content":[{"type":"text","text":"one"}],"structuredContent":{"n":1}}`, tools.Result{Text: "one", Data: []byte(`{"n":1}`)}},
		"exact numbers": {
			`{"content":[{"type":"text","text":"{\"id\": 12345678901234567890, \"p\": 1.10}"}],"structuredContent":{"p":1.10,"id":12345678901234567890}}`,
			tools.Result{Text: `{"id": 12345678901234567890, "p": 1.10}`, Data: []byte(`{"id":12345678901234567890,"p":1.10}`)},
		},
		"a list": {`{"content":[],"structuredContent":[1]}`, tools.Result{Text: `[1]`, Data: []byte(`[1]`)}},
		"an image": {
			`{"content":[{"type":"text","text":"see"},{"type":"image","data":"AAEC","mimeType":"image/png"}]}`,
			tools.Result{Text: "see\n[image image/png, 3 bytes]", Data: []byte(`{"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"AAEC"}]}`)},
		},
		"audio and data": {
			`{"content":[{"type":"audio","data":"AAEC","mimeType":"audio/wav"}],"structuredContent":{"n":1}}`,
			tools.Result{Text: "[audio audio/wav, 3 bytes]", Data: []byte(`{"n":1}`)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := read(t, test.wire, 1000)
			if got.Text != test.want.Text || string(got.Data) != string(test.want.Data) || got.IsError != test.want.IsError {
				t.Errorf("it is\n%+v with %s, not\n%+v with %s", got, got.Data, test.want, test.want.Data)
			}
		})
	}
}

func TestResourcesAreToldInWordsAndKept(t *testing.T) {
	got := read(t, `{"content":[
		{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain","size":12,"description":"the first"},
		{"type":"resource","resource":{"uri":"file:///b","mimeType":"text/plain","text":"what b says"}},
		{"type":"resource","resource":{"uri":"file:///c","blob":"AAEC"}},
		{"type":"resource"}]}`, 10_000)
	mentions(t, got.Text,
		"[link file:///a a, text/plain, 12 bytes, the first]",
		"[resource file:///b text/plain, 11 bytes]\nwhat b says", "[resource file:///c 3 bytes]", "[resource without content]")
	var kept struct{ Content []map[string]any }
	if err := json.Unmarshal(got.Data, &kept); err != nil || len(kept.Content) != 4 {
		t.Errorf("kept are %s (%v)", got.Data, err)
	}
}

func TestResultsAreCutToWhatIsKept(t *testing.T) {
	got := read(t, `{"content":[{"type":"text","text":"ééééé"}],"structuredContent":{"long":"aaaaaaaaaa"}}`, 5)
	if !strings.HasPrefix(got.Text, "éé\n[cut: the first 4 of 10 bytes]") || got.Data != nil {
		t.Errorf("it is %q with %s", got.Text, got.Data)
	}
	mentions(t, got.Text, "21 bytes, more than 5")
}

func TestSecretsAreStruckOutOfResults(t *testing.T) {
	hide := ServerConfig{secrets: []string{"123456", "s3cret\"key"}}.hider().Replace
	tests := map[string]struct{ text, data, wantText, wantData string }{
		"a text":   {`the s3cret"key`, `{"k":"s3cret\"key"}`, "the ***", `{"k":"***"}`},
		"a number": {"123456", `{"n":123456}`, "***", ``},
		"none":     {"12345", `{"n":12345}`, "12345", `{"n":12345}`},
		"no data":  {"x", ``, "x", ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := hidden(tools.Result{Text: test.text, Data: json.RawMessage(test.data)}, hide)
			if got.Text != test.wantText || string(got.Data) != test.wantData {
				t.Errorf("it is %q with %s", got.Text, got.Data)
			}
		})
	}
}

func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"content":null}`, `{"content":[{"type":"text","text":"a"}],"isError":true}`,
		`{"content":[{"type":"image","data":"AAEC","mimeType":"image/png"}],"structuredContent":{"n":1e400}}`,
		`{"content":[{"type":"resource"},{"type":"resource","resource":{"uri":"x","blob":"AA=="}}]}`,
		`{"content":[{"type":"resource_link","uri":"x","size":-1},{"type":"tool_use","id":"1"},{"type":"tool_result","content":[{"type":"text"}]}]}`,
		`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
		`{"content":[{"type":"text","text":"\ud800"}],"_meta":{"x":[[]]}}`,
	} {
		f.Add([]byte(seed), 20)
	}
	f.Fuzz(func(t *testing.T, wire []byte, most int) {
		var r sdk.CallToolResult
		if json.Unmarshal(wire, &r) != nil {
			return
		}
		most = max(0, most%1000)
		got := readResult(&r, most)
		if !utf8.ValidString(got.Text) || got.Text == "" {
			t.Errorf("the text is %q", got.Text)
		}
		if len(got.Text) > most+200 || len(got.Data) > most {
			t.Errorf("%d bytes of text and %d of data are kept of at most %d", len(got.Text), len(got.Data), most)
		}
		if len(got.Data) > 0 && !json.Valid(got.Data) {
			t.Errorf("the data is %q", got.Data)
		}
		if got.IsError != r.IsError {
			t.Error("an error is told as none, or the other way round")
		}
	})
}
