package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// targets are the targets of the Makefile.
func targets(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(readFile(t, "Makefile"), -1) {
		names = append(names, m[1])
	}
	return names
}

func TestEveryTargetIsListedByHelp(t *testing.T) {
	text := readFile(t, "Makefile")
	for _, name := range targets(t) {
		if !regexp.MustCompile(`(?m)^` + name + `:.*## \S`).MatchString(text) {
			t.Errorf("make %s has no line of help", name)
		}
		if !strings.Contains(text, ".PHONY: "+name+"\n") {
			t.Errorf("make %s is not phony", name)
		}
	}
}

func TestDocsNameCommandsThatAreThere(t *testing.T) {
	known := targets(t)
	for _, name := range files(t, ".md") {
		text := readFile(t, name)
		for _, m := range regexp.MustCompile("(?m)(?:`|^)make ([a-z -]+)").FindAllStringSubmatch(text, -1) {
			for _, word := range strings.Fields(m[1]) {
				if !slices.Contains(known, word) {
					t.Errorf("%s says %q, but there is no target %s", name, m[0], word)
				}
			}
		}
	}
}

func TestDocsNameFilesThatAreThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	named := regexp.MustCompile("`((?:cmd|internal|web|docs|scripts|tools)/[A-Za-z0-9_./-]+)`")
	for _, name := range files(t, ".md") {
		text := readFile(t, name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			exists(t, name, path.Join(path.Dir(name), m[1]))
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			exists(t, name, m[1])
		}
	}
}

func exists(t *testing.T, doc, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, name)); err != nil {
		t.Errorf("%s names %s, which is not there", doc, name)
	}
}

func TestDecisionsAreNumberedWithoutGaps(t *testing.T) {
	pages := files(t, ".md")
	pages = slices.DeleteFunc(pages, func(p string) bool { return path.Dir(p) != "docs/adr" })
	slices.Sort(pages)
	for i, p := range pages {
		number := path.Base(p)[:4]
		want := "# " + strings.TrimLeft(number, "0") + ". "
		if !strings.HasPrefix(readFile(t, p), want) {
			t.Errorf("%s does not begin with %q", p, want)
		}
		if n := strings.TrimLeft(number, "0"); n != strconv.Itoa(i+1) {
			t.Errorf("%s is page %d of docs/adr", p, i+1)
		}
	}
}

func TestCIRunsTheTestCommandOfTheReadme(t *testing.T) {
	const command = "make test"
	if !strings.Contains(readFile(t, "README.md"), command) {
		t.Errorf("README.md does not say %q", command)
	}
	if !strings.HasSuffix(readFile(t, ".ci/run"), "\n"+command+"\n") {
		t.Errorf(".ci/run does not end with %q", command)
	}
}
