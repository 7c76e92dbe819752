package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the import path of the tree.
const module = "planwave"

// mayImport draws the house from the top down: a package that is not a test may import
// of ours what stands beside it here, and nothing else. Every package is drawn
// below all that may import it.
var mayImport = []struct {
	pkg  string
	from []string
}{
	{"cmd/web", []string{
		"internal/handlers", "internal/runs", "internal/planner", "internal/scheduler", "internal/agent", "internal/model",
		"internal/model/demo", "internal/model/gemini", "internal/model/openai", "internal/model/replay", "internal/tools", "internal/tools/mcp",
		"internal/tools/fetch", "internal/guard", "internal/budget", "internal/db", "internal/layout", "internal/prompt", "internal/metrics", "internal/traces", "internal/people",
		"internal/plan", "web/templates", "web/static",
	}},
	{"web/gallery", []string{"web/templates", "web/markdown", "web/static", "internal/layout", "internal/plan"}},
	{"internal/handlers", []string{
		"web/templates", "web/markdown", "web/static", "internal/runs", "internal/model", "internal/tools", "internal/tools/mcp",
		"internal/db", "internal/export", "internal/layout", "internal/looseread", "internal/metrics", "internal/people", "internal/plan",
	}},
	{"web/templates", []string{"web/markdown", "web/static", "internal/layout", "internal/plan"}},
	{"web/markdown", nil},
	{"web/static", nil},
	{"internal/runs", []string{
		"internal/planner", "internal/scheduler", "internal/agent", "internal/contract", "internal/model", "internal/tools",
		"internal/budget", "internal/db", "internal/prompt", "internal/plan",
	}},
	{"internal/planner", []string{"internal/model", "internal/tools", "internal/looseread", "internal/prompt", "internal/plan"}},
	{"internal/scheduler", []string{"internal/plan"}},
	{"internal/agent", []string{
		"internal/contract", "internal/model", "internal/tools", "internal/looseread", "internal/prompt", "internal/plan",
	}},
	{"internal/treesearch", nil},
	{"internal/contract", []string{"internal/plan"}},
	{"internal/model/demo", []string{"internal/model", "internal/tools", "internal/plan"}},
	{"internal/model/gemini", []string{"internal/model", "internal/plan"}},
	{"internal/model/openai", []string{"internal/model", "internal/plan"}},
	{"internal/model/replay", []string{"internal/model", "internal/plan"}},
	{"internal/model/modeltest", []string{"internal/model", "internal/plan"}},
	{"internal/model", []string{"internal/plan"}},
	{"internal/tools/fetch", []string{"internal/tools", "internal/guard", "internal/plan"}},
	{"internal/tools/mcp", []string{"internal/tools", "internal/plan"}},
	{"internal/tools", []string{"internal/looseread", "internal/plan"}},
	{"internal/budget", []string{"internal/plan"}},
	{"internal/metrics", []string{"internal/db", "internal/plan"}},
	{"internal/traces", []string{"internal/db", "internal/plan"}},
	{"internal/db", []string{"internal/people", "internal/plan"}},
	{"internal/export", []string{"internal/layout", "internal/plan"}},
	{"internal/layout", []string{"internal/plan"}},
	{"internal/guard", nil},
	{"internal/looseread", nil},
	{"internal/people", nil},
	{"internal/prompt", nil},
	{"internal/plan", nil},
	{"internal/house", nil},
}

// testHelpers are modules that only tests may import.
var testHelpers = []string{
	"github.com/PuerkitoBio/goquery", "github.com/chromedp/chromedp", "github.com/chromedp/cdproto",
	"go.uber.org/goleak", "pgregory.net/rapid", "testing", "net/http/httptest",
}

// goPackage is what "go list -json" tells of a package.
type goPackage struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       *struct{ Path string }
}

// rel is the package's path in the tree.
func (p goPackage) rel() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// helpsTests says whether a package is there for tests only: its name ends in
// test, as in modeltest.
func helpsTests(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// listed is what go list tells of the packages of the tree, asked once.
var listed = sync.OnceValues(func() ([]goPackage, error) { return goList("./...") })

// packages are the packages of the tree.
func packages(t *testing.T) []goPackage {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goList runs "go list -json" at the root of the tree.
func goList(args ...string) ([]goPackage, error) {
	cmd := exec.Command("go", append([]string{ //nolint:noctx // it outlives the test that asks first
		"list", "-tags=sqlite_fts5", "-json=ImportPath,Standard,Imports,TestImports,XTestImports,Module",
	}, args...)...)
	cmd.Dir = root
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %v: %w\n%s", args, err, errOut.String())
	}
	var all []goPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		all = append(all, p)
	}
}

// ours keeps the imports that are packages of the tree, as paths in it.
func ours(imports []string) []string {
	var own []string
	for _, i := range imports {
		if rel, ok := strings.CutPrefix(i, module+"/"); ok {
			own = append(own, rel)
		}
	}
	return own
}

// floors numbers the packages from the top of the house down.
func floors() map[string]int {
	floor := map[string]int{}
	for i, room := range mayImport {
		floor[room.pkg] = i
	}
	return floor
}

func TestTheDrawingOfTheHousePointsDown(t *testing.T) {
	floor := floors()
	for _, room := range mayImport {
		for _, i := range room.from {
			if below, drawn := floor[i]; !drawn || below <= floor[room.pkg] {
				t.Errorf("%s may import %s, which is not drawn below it", room.pkg, i)
			}
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	may := map[string][]string{}
	for _, room := range mayImport {
		may[room.pkg] = room.from
	}
	for _, p := range packages(t) {
		from, drawn := may[p.rel()]
		if !drawn {
			t.Errorf("%s is not drawn in mayImport (internal/house): say what it may import", p.rel())
			continue
		}
		for _, i := range ours(p.Imports) {
			if !slices.Contains(from, i) {
				t.Errorf("%s imports %s, which is not drawn: it may import %v", p.rel(), i, from)
			}
		}
	}
}

func TestTestsImportNothingFromAbove(t *testing.T) {
	floor := floors()
	for _, p := range packages(t) {
		for _, i := range ours(slices.Concat(p.TestImports, p.XTestImports)) {
			if i != p.rel() && floor[i] < floor[p.rel()] {
				t.Errorf("the tests of %s import %s, which stands above it", p.rel(), i)
			}
		}
	}
}

func TestTheLeafImportsTheStandardLibraryOnly(t *testing.T) {
	deps, err := goList("-deps", "./internal/plan")
	if err != nil {
		t.Fatal(err)
	}
	if len(deps) < 2 {
		t.Fatal("go list tells of no imports of internal/plan")
	}
	for _, p := range deps {
		if !p.Standard && p.rel() != "internal/plan" {
			t.Errorf("internal/plan needs %s", p.ImportPath)
		}
	}
}

func TestTestHelpersStayInTests(t *testing.T) {
	for _, p := range packages(t) {
		if helpsTests(p.ImportPath) {
			continue
		}
		for _, i := range p.Imports {
			helper := helpsTests(i) && strings.HasPrefix(i, module+"/")
			for _, h := range testHelpers {
				helper = helper || i == h || strings.HasPrefix(i, h+"/")
			}
			if helper {
				t.Errorf("%s imports %s outside its tests", p.rel(), i)
			}
		}
	}
}

func TestEveryDirectDependencyHasItsLine(t *testing.T) {
	const adr = "docs/adr/0004-direct-dependencies.md"
	text := readFile(t, adr)
	modules := map[string]string{} // import path → module
	deps, err := goList("-deps", "-test", "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range deps {
		if p.Module != nil {
			modules[p.ImportPath] = p.Module.Path
		}
	}
	direct := map[string]bool{}
	for _, p := range packages(t) {
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if m := modules[i]; m != "" && m != module {
				direct[m] = true
			}
		}
	}
	if len(direct) == 0 {
		t.Fatal("go list tells of no direct dependency")
	}
	for _, m := range slices.Sorted(maps.Keys(direct)) {
		if !strings.Contains(text, "`"+m+"`") {
			t.Errorf("%s has no line about %s: what it does for us, who keeps it, what else was looked at", adr, m)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(text, -1) {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			if !direct[m[1]] {
				t.Errorf("%s has a line about %s, which nothing imports", adr, m[1])
			}
		}
	}
}
