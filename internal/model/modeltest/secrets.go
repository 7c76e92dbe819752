package modeltest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"planwave/internal/model"
)

// awkwardKey has what URLs and JSON write in other ways.
const awkwardKey = `sk-proj+/&"=0123456789<abcdef>`

// leaks fails when a text holds the key in any form, or its beginning.
func leaks(t testing.TB, what, in, key string) {
	t.Helper()
	for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key), strings.Trim(text(key), `"`), key[:10]} {
		if strings.Contains(in, form) {
			t.Errorf("%s holds the key: %s", what, in)
		}
	}
}

// A careless server repeats what it was sent, in every way there is.
func keysAppearNowhere(t *testing.T, s Subject) {
	for _, key := range []string{Key, awkwardKey} {
		c, bodies := s.careless(t, key), givenAway(key)
		for _, status := range []int{200, 302, 400, 401, 500} {
			for name, body := range bodies {
				resp, err := c.ask(status, body)
				if err == nil {
					leaks(t, name+" in the response", text(resp), key)
					continue
				}
				e := failure(t, err)
				leaks(t, name+" in the message", e.Message, key)
				leaks(t, name+" in the error", e.Error(), key)
				leaks(t, name+" in what is shown", text(e.Shown()), key)
				if strings.Contains(e.Message, key[len(key)-4:]) {
					t.Errorf("%s: the end of the key is in %q", name, e.Message)
				}
			}
		}
	}
}

// givenAway are bodies that hold the key in every place and every form.
func givenAway(key string) map[string]string {
	said := map[string]string{
		"whole": "the key " + key + " is bad", "header": "Authorization: Bearer " + key, "query": "POST /v1?key=" + url.QueryEscape(key),
		"path": "/keys/" + url.PathEscape(key) + "/x", "cut off": "the key " + key[:14] + "… is bad", "masked": "the key " + key[:4] + "***" + key[len(key)-4:] + " is bad",
		"dotted": "the key " + key[:7] + "..." + key[len(key)-4:] + " is bad", "before a cut": strings.Repeat("x", 290) + key,
	}
	bodies := map[string]string{}
	for name, words := range said {
		bodies[name+" in a message"] = `{"error":{"message":` + text(words) + `}}`
		bodies[name+" in a text"] = words
		bodies[name+" in a page"] = "<html>" + words
		bodies[name+" as JSON in JSON"] = `{"error":{"message":` + text(text(words)) + `}}`
		bodies[name+" in an error that came as success"] = `{"error":{"code":400,"message":` + text(words) + `}}`
		bodies[name+" as what was refused"] = `{"choices":[{"message":{"refusal":` + text(words) + `}}],"promptFeedback":{"blockReason":` + text(words) + `}}`
		bodies[name+" in a wrong type"] = `{"choices":` + text(words) + `,"candidates":` + text(words) + `}`
		bodies[name+" as the reason to stop"] = `{"choices":[{"finish_reason":` + text(words) + `}],"candidates":[{"finishReason":` + text(words) + `}]}`
	}
	return bodies
}

// careless is a provider that was given a key, behind a registry as runs have
// it, and a server that repeats what it was sent.
type careless struct {
	t      *testing.T
	key    string
	model  model.Model
	status int
	body   string
}

func (s Subject) careless(t *testing.T, key string) *careless {
	t.Helper()
	c := &careless{t: t, key: key}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.model = s.withKey(t, server.URL, key)
	return c
}

// ServeHTTP answers with the body of the moment, and the key in its headers.
func (c *careless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.Header.Get("X-Goog-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if sent != c.key || strings.Contains(r.URL.String(), url.QueryEscape(c.key)) {
		c.t.Errorf("the server was sent the key %q and the address %s", sent, r.URL)
	}
	w.Header().Set("X-Echo", c.key)
	w.Header().Set("Location", "http://127.0.0.1:1/?key="+url.QueryEscape(c.key))
	w.WriteHeader(c.status)
	_, _ = w.Write([]byte(c.body))
}

// ask asks once.
func (c *careless) ask(status int, body string) (model.Response, error) {
	c.status, c.body = status, body
	req := ask("Hi")
	resp, err := c.model.Generate(c.t.Context(), req)
	leaks(c.t, "the request", text(req), c.key)
	return resp, err
}

// withKey is the provider behind a registry.
func (s Subject) withKey(t *testing.T, base, key string) model.Model {
	t.Helper()
	r := model.NewRegistry(model.Config{})
	if err := r.Register("p", model.Provider{Model: s.New(t, base, key), DefaultModel: "m", Key: key}); err != nil {
		t.Fatal(err)
	}
	m, _, err := r.Resolve("p")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func keysAreTakenOutOfAnswers(t *testing.T, s Subject) {
	const key = Key
	body := `{"model":"` + key + `","choices":[{"message":{"content":"you sent ` + key + `","tool_calls":[{"id":"` + key + `","function":{"name":"search","arguments":"{\"q\":\"` + key + `\"}"}}]}}]}`
	short := `{"choices":[{"message":{"content":"an ollama-local word"}}]}`
	if s.Protocol == Gemini {
		body = `{"modelVersion":"` + key + `","candidates":[{"content":{"role":"model","parts":[{"text":"you sent ` + key + `"},{"functionCall":{"name":"search","args":{"q":"` + key + `"}}}]},"finishReason":"STOP"}]}`
		short = `{"candidates":[{"content":{"parts":[{"text":"an ollama-local word"}]},"finishReason":"STOP"}]}`
	}
	resp, err := s.careless(t, key).ask(http.StatusOK, body)
	if err != nil || resp.Text != "you sent [key]" || len(resp.Calls) != 1 || string(resp.Calls[0].Arguments) != `{"q":"[key]"}` {
		t.Errorf("%+v, %v", resp, err)
	}
	leaks(t, "the response", text(resp), key)
	// What is given to servers on one's own machine is a word.
	resp, err = s.careless(t, "ollama-local").ask(http.StatusOK, short)
	if err != nil || resp.Text != "an ollama-local word" {
		t.Errorf("%+v, %v", resp, err)
	}
}

func keysAreNotInFailuresOfConnections(t *testing.T, s Subject) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	for _, base := range []string{
		server.URL, strings.Replace(server.URL, "http://", "http://user:"+url.QueryEscape(Key)+"@", 1), server.URL + "/?key=" + Key,
	} {
		_, err := s.withKey(t, base, Key).Generate(t.Context(), ask("Hi"))
		leaks(t, base, failure(t, err).Error(), Key)
	}
}
