// Package static holds what the pages load besides HTML: styles, scripts,
// icons, and the vendored htmx. Everything is embedded and served under an
// address that holds a hash of the content, so that browsers may keep it for
// ever and never show an old page with new styles.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

//go:embed css js vendor icon icons.svg
var files embed.FS

// prefix is where the files are served.
const prefix = "/static/"

// version is a hash over the names and contents of all files. One hash for all
// lets a script import its neighbour by a relative address.
var version = sync.OnceValue(hashAll)

func hashAll() string {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		sum.Write([]byte(name + "\x00"))
		sum.Write(text)
		sum.Write([]byte{0})
		return err
	})
	if err != nil {
		panic("static: read the embedded files: " + err.Error()) // they are in the binary
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

// Files returns the files, for tools that copy them.
func Files() fs.FS { return files }

// URL returns the address of a file, as in URL("css/app.css").
func URL(name string) string { return prefix + version() + "/" + name }

// Handler serves the files below /static/. What is asked for by its present
// hash may be kept for ever; by another hash, as from a page that was loaded
// before an update, the present file is answered and not kept.
func Handler() http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, prefix), "/")
		if info, err := fs.Stat(files, name); !ok || err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		cache := "no-cache"
		if hash == version() {
			cache = "public, max-age=31536000, immutable"
		}
		w.Header().Set("Cache-Control", cache)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.StripPrefix(prefix+hash, server).ServeHTTP(w, r)
	})
}
