// Command gallery renders every page and every state of every component from
// canned data, so that they can be looked at: as files in a folder, or served
// under the content policy of the real pages.
//
//	go run ./web/gallery OUTDIR
//	go run ./web/gallery -addr 127.0.0.1:8099
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"planwave/web/static"
)

// policy is the content policy that the real pages are served under.
const policy = "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gallery", flag.ContinueOnError)
	flags.SetOutput(out)
	addr := flags.String("addr", "", "serve on this address instead of writing files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *addr != "" {
		s := &http.Server{Addr: *addr, Handler: handler(), ReadHeaderTimeout: 5 * time.Second}
		return s.ListenAndServe()
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("name the folder to write to, as in: go run ./web/gallery /tmp/gallery")
	}
	return write(ctx, flags.Arg(0))
}

// write puts every page and every static file into a folder.
func write(ctx context.Context, dir string) error {
	if err := os.CopyFS(filepath.Join(dir, filepath.Dir(static.URL("x"))), static.Files()); err != nil && !os.IsExist(err) {
		return fmt.Errorf("copy the static files: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "graphs"), 0o750); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	for name, css := range stylesheets() {
		if err := os.WriteFile(filepath.Join(dir, "graphs", name), []byte(css), 0o600); err != nil {
			return fmt.Errorf("write a stylesheet: %w", err)
		}
	}
	for _, s := range states() {
		var page writer
		if err := s.component.Render(ctx, &page); err != nil {
			return fmt.Errorf("render %s: %w", s.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".html"), page, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", s.name, err)
		}
	}
	return nil
}

// writer collects what is written.
type writer []byte

// Write implements io.Writer.
func (w *writer) Write(b []byte) (int, error) {
	*w = append(*w, b...)
	return len(b), nil
}

// handler serves the states by name, and a list of them. ?theme=dark shows a
// state in dark colours.
func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/graphs/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = io.WriteString(w, stylesheets()[r.PathValue("name")]) // the viewer may have gone
	})
	mux.HandleFunc("/{name}", func(w http.ResponseWriter, r *http.Request) {
		for _, s := range themed(r.URL.Query().Get("theme")) {
			if s.name == r.PathValue("name") {
				w.Header().Set("Content-Security-Policy", policy)
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_ = s.component.Render(r.Context(), w) // the viewer may have gone
				return
			}
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = index().Render(r.Context(), w) // the viewer may have gone
	})
	return mux
}
