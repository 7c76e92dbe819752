package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"planwave/web/static"
)

// update rewrites the golden files: go test ./web/gallery -update.
var update = flag.Bool("update", false, "rewrite the golden files")

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Render(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func parse(t *testing.T, text string) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// pretty writes HTML with a tag or a text a line, indented, so that a
// difference can be read.
func pretty(t *testing.T, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, static.URL(""), "/static/HASH/")
	var out strings.Builder
	depth := 0
	tokens := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := tokens.Next()
		token := tokens.Token()
		void := strings.Contains(" br hr img input link meta ", " "+token.Data+" ")
		switch kind {
		case html.ErrorToken:
			if !errors.Is(tokens.Err(), io.EOF) {
				t.Fatal(tokens.Err())
			}
			return out.String()
		case html.EndTagToken:
			depth--
		case html.TextToken:
			if strings.TrimSpace(token.Data) == "" {
				continue
			}
		default:
		}
		fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", max(depth, 0)), strings.TrimSpace(token.String()))
		if kind == html.StartTagToken && !void {
			depth++
		}
	}
}

// difference shows the lines around the first that differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	show := func(lines []string) string {
		return strings.Join(lines[max(0, min(at-3, len(lines))):min(at+6, len(lines))], "\n")
	}
	return fmt.Sprintf("from line %d:\n--- want\n%s\n+++ got\n%s", at+1, show(w), show(g))
}

func TestComponentsAreAsTheyWere(t *testing.T) {
	for _, s := range fragments() {
		t.Run(s.name, func(t *testing.T) {
			file := filepath.Join("testdata", s.name+".html")
			got := pretty(t, render(t, s.component))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; write it with -update", err)
			}
			if got != string(want) {
				t.Errorf("%s differs (rewrite it with -update): %s", file, difference(got, string(want)))
			}
		})
	}
}

func TestEveryGoldenFileHasItsComponent(t *testing.T) {
	known := map[string]bool{}
	for _, s := range fragments() {
		known[s.name+".html"] = true
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("testdata/%s belongs to no component: remove it", e.Name())
		}
	}
}
