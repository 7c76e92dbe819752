package house

import (
	"cmp"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// The measures that keep the tree readable.
const (
	fileMost        = 600
	fileP90         = 400
	fileMedian      = 150
	functionP90     = 40
	functionMedian  = 12
	documentedShare = 0.95
	testsToCode     = 0.8 // lines of tests to lines of code, over the tree
	testsToEngine   = 1.5 // the same in each package of the engine
)

// quantile returns the value below which the share q of the values lies.
func quantile(values []int, q float64) int {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

func TestFilesAreShort(t *testing.T) {
	var lines []int
	for _, s := range sources(t) {
		if s.lines > fileMost {
			t.Errorf("%s has %d lines, more than %d: one idea a file", s.path, s.lines, fileMost)
		}
		lines = append(lines, s.lines)
	}
	for _, name := range files(t, ".templ") {
		if n := strings.Count(readFile(t, name), "\n"); n > fileMost {
			t.Errorf("%s has %d lines, more than %d", name, n, fileMost)
		}
	}
	median, p90 := quantile(lines, 0.5), quantile(lines, 0.9)
	t.Logf("lines a file: median %d, p90 %d, longest %d", median, p90, slices.Max(lines))
	if median > fileMedian || p90 > fileP90 {
		t.Errorf("lines a file: median %d, p90 %d, more than %d and %d", median, p90, fileMedian, fileP90)
	}
}

func TestFunctionsAreShort(t *testing.T) {
	var lines []int
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
				lines = append(lines, n)
			}
		}
	}
	median, p90 := quantile(lines, 0.5), quantile(lines, 0.9)
	t.Logf("lines a function: median %d, p90 %d, longest %d", median, p90, slices.Max(lines))
	if median > functionMedian || p90 > functionP90 {
		t.Errorf("lines a function: median %d, p90 %d, more than %d and %d", median, p90, functionMedian, functionP90)
	}
}

func TestCodeIsTested(t *testing.T) {
	code, tests := map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if path.Dir(s.path) == "internal/house" {
			continue // tests of nothing but the tree
		}
		count := code
		if s.test || helpsTests(path.Dir(s.path)) {
			count = tests
		}
		count[path.Dir(s.path)] += s.lines
		count[""] += s.lines
	}
	for _, dir := range slices.Sorted(maps.Keys(code)) {
		ratio := float64(tests[dir]) / float64(code[dir])
		t.Logf("%.2f lines of tests to a line of code: %s", ratio, cmp.Or(dir, "the tree"))
		least := 0.0
		switch dir {
		case "":
			least = testsToCode
		case "internal/plan", "internal/scheduler":
			least = testsToEngine
		}
		if ratio < least {
			t.Errorf("%.2f lines of tests to a line of code, fewer than %.1f: %s", ratio, least, cmp.Or(dir, "the tree"))
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			dir := path.Dir(s.path)
			documented[dir] = documented[dir] || s.ast.Doc.Text() != ""
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestExportedThingsAreDocumented(t *testing.T) {
	var bare []string
	total := 0
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			for name, documented := range exported(d) {
				total++
				if !documented {
					bare = append(bare, s.at(d)+" "+name)
				}
			}
		}
	}
	share := 1 - float64(len(bare))/float64(total)
	t.Logf("%.1f %% of %d exported things are documented", 100*share, total)
	if share < documentedShare {
		t.Errorf("%.1f %% of the exported things are documented, fewer than %.0f %%:\n%s",
			100*share, 100*documentedShare, strings.Join(bare, "\n"))
	}
}

// exported names what a declaration exports, and says whether it is documented.
// A group's comment documents all constants and variables in it.
func exported(d ast.Decl) map[string]bool {
	found := map[string]bool{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv))) {
			found[receiver(d.Recv)+"."+d.Name.Name] = d.Doc.Text() != ""
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					found[spec.Name.Name] = spec.Doc.Text() != "" || (!d.Lparen.IsValid() && d.Doc.Text() != "")
				}
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					if n.IsExported() {
						found[n.Name] = spec.Doc.Text() != "" || spec.Comment.Text() != "" || d.Doc.Text() != ""
					}
				}
			}
		}
	}
	return found
}

// receiver returns the name of a method's type, or "".
func receiver(fields *ast.FieldList) string {
	if fields == nil {
		return ""
	}
	expr := fields.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
