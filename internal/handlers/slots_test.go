package handlers

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A browser holds four streams and no more until it lets one go; other browsers,
// programs and HTTP/2 are not counted with it.
func TestABrowserHoldsFewStreams(t *testing.T) { // ui: many tabs
	request := func(browser string, major int) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.ProtoMajor = major
		if browser != "" {
			r.AddCookie(&http.Cookie{Name: browserCookie, Value: browser})
		}
		return r
	}
	var s slots
	var give []func()
	for range streamsPerBrowser {
		free, ok := s.take(request("a", 1))
		if !ok {
			t.Fatal("a browser may hold fewer than it should")
		}
		give = append(give, free)
	}
	may := func(browser string, major int) bool {
		free, ok := s.take(request(browser, major))
		free()
		return ok
	}
	if may("a", 1) || !may("b", 1) || !may("", 1) || !may("a", 2) {
		t.Errorf("one more: %v; another browser: %v; a program: %v; over HTTP/2: %v", may("a", 1), may("b", 1), may("", 1), may("a", 2))
	}
	give[0]()
	if !may("a", 1) || s.held["a"] != streamsPerBrowser-1 {
		t.Errorf("after one was let go it holds %d", s.held["a"])
	}
	for _, free := range give[1:] {
		free()
	}
	if len(s.held) != 0 {
		t.Errorf("browsers without streams are remembered: %v", s.held)
	}
}
