package static

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	return w.Result()
}

func TestWhatIsAskedForByItsHashIsKeptForEver(t *testing.T) {
	tests := map[string]struct {
		url, cache, kind string
		status           int
	}{
		"present hash": {URL("css/app.css"), "public, max-age=31536000, immutable", "text/css; charset=utf-8", 200},
		"other hash":   {"/static/0123456789ab/css/app.css", "no-cache", "text/css; charset=utf-8", 200},
		"script":       {URL("js/app.js"), "public, max-age=31536000, immutable", "text/javascript; charset=utf-8", 200},
		"icons":        {URL("icons.svg"), "public, max-age=31536000, immutable", "image/svg+xml", 200},
		"no such file": {URL("css/none.css"), "", "text/plain; charset=utf-8", 404},
		"a folder":     {URL("css"), "", "text/plain; charset=utf-8", 404},
		"no hash":      {"/static/app.css", "", "text/plain; charset=utf-8", 404},
		"outside":      {"/static/x/../../static.go", "", "text/plain; charset=utf-8", 404},
		"source":       {URL("static.go"), "", "text/plain; charset=utf-8", 404},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := get(t, tt.url)
			defer func() { _ = r.Body.Close() }()
			if r.StatusCode != tt.status || r.Header.Get("Cache-Control") != tt.cache || r.Header.Get("Content-Type") != tt.kind {
				t.Errorf("%d, %q, %q", r.StatusCode, r.Header.Get("Cache-Control"), r.Header.Get("Content-Type"))
			}
		})
	}
}

func TestVendoredFilesAreWhatTheirReadmeSays(t *testing.T) {
	text, err := fs.ReadFile(files, "vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` .* `([0-9a-f]{64})` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		b, err := fs.ReadFile(files, "vendor/"+row[1])
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != row[2] {
			t.Errorf("%s is not the file that the README names", row[1])
		}
		if _, err := fs.Stat(files, "vendor/"+row[1][:strings.Index(row[1], "/")]+"/LICENSE"); err != nil {
			t.Error(err)
		}
	}
}

// The pages' own scripts stay small enough to need no build step.
func TestOwnScriptsAreSmall(t *testing.T) {
	total := 0
	err := fs.WalkDir(files, "js", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := fs.ReadFile(files, name)
			total += len(b)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if total == 0 || total > 20_000 {
		t.Errorf("the scripts are %d bytes", total)
	}
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?i)@import|url\(\s*["']?(https?:)?//|from ["']https?:|eval\(|innerHTML|new Function`)
	for _, dir := range []string{"css", "js"} {
		err := fs.WalkDir(files, dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(files, name)
			if at := elsewhere.Find(b); at != nil {
				t.Errorf("%s has %q", name, at)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
