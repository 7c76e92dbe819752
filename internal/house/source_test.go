package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the root of the tree, seen from this package.
const root = "../.."

// source is one hand-written Go file.
type source struct {
	path  string // in the tree
	test  bool
	lines int
	fset  *token.FileSet
	ast   *ast.File
}

// at names a place in the source.
func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// files lists the files of the tree that end in suffix, without those of
// others and those that git does not keep.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	found, err := walk(suffix)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("the tree has no file that ends in %s", suffix)
	}
	return found
}

func walk(suffix string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "testdata", "tmp", "vendor"}, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, suffix):
			rel, err := filepath.Rel(root, p)
			found = append(found, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return found, err
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// parsed are all hand-written Go files, parsed once.
var parsed = sync.OnceValues(parseAll)

// sources are the hand-written Go files. Generated code is measured by nobody.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parseAll() ([]source, error) {
	names, err := walk(".go")
	if err != nil {
		return nil, err
	}
	var all []source
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		all = append(all, source{
			path: name, test: strings.HasSuffix(name, "_test.go"), lines: bytes.Count(text, []byte("\n")), fset: fset, ast: f,
		})
	}
	return all, nil
}

// imported returns the name under which a file knows a package of the standard library, or "".
func (s source) imported(pkg string) string {
	for _, i := range s.ast.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil && p == pkg {
			if i.Name != nil {
				return i.Name.Name
			}
			return pkg[strings.LastIndex(pkg, "/")+1:]
		}
	}
	return ""
}

// uses calls found for every mention of X.Name in the file.
func (s source) uses(found func(x, name string, n ast.Node)) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				found(x.Name, sel.Sel.Name, sel)
			}
		}
		return true
	})
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init runs before anybody asked: construct it where it is used", s.at(f))
			}
		}
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t) {
		clock := s.imported("time")
		if !s.test || clock == "" {
			continue
		}
		s.uses(func(x, name string, n ast.Node) {
			if x == clock && name == "Sleep" {
				t.Errorf("%s: a test sleeps: wait for what happens, with a channel, a barrier or testing/synctest", s.at(n))
			}
		})
	}
}

func TestNoTestIsSkipped(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		s.uses(func(x, name string, n ast.Node) {
			if slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name) || x == "testing" && name == "Short" {
				t.Errorf("%s: %s leaves a test out in silence: make it fail and say what it needs", s.at(n), name)
			}
		})
		for _, group := range s.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//go:build") {
					t.Errorf("%s: a build tag leaves a test out in silence", s.at(c))
				}
			}
		}
	}
}

// variables are the package variables that are neither errors, embeds nor
// compiled constants, each with its reason.
var variables = map[string]string{
	"web/static.version": "a hash of the embedded files, computed when first asked for: a constant that the compiler cannot work out",
}

// compiled are the functions whose result is a constant that Go cannot write
// as one.
var compiled = []string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "big.NewRat", "big.NewInt", "template.Must", "strings.NewReplacer",
}

func TestPackageVariablesAreConstants(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok || constant(g, v) {
					continue
				}
				for _, name := range v.Names {
					if variables[filepath.Dir(s.path)+"."+name.Name] == "" {
						t.Errorf("%s: %s is a package variable: pass it in, or return it from a function", s.at(name), name.Name)
					}
				}
			}
		}
	}
}

// constant says whether a package variable is an embedded file, a compiled
// constant, an error, or an assertion that a type fits an interface.
func constant(g *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{g.Doc, v.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	if !slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name != "_" }) {
		return true
	}
	if len(v.Values) == 0 {
		return false
	}
	return !slices.ContainsFunc(v.Values, func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := f.X.(*ast.Ident)
		return !ok || !slices.Contains(compiled, x.Name+"."+f.Sel.Name)
	})
}

// fat are the interfaces with more than five methods, each with its reason.
var fat = map[string]string{}

func TestInterfacesAreSmall(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			i, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return true
			}
			if m := i.Methods.NumFields(); m > 5 && fat[filepath.Dir(s.path)+"."+spec.Name.Name] == "" {
				t.Errorf("%s: interface %s has %d methods, more than 5: who uses it needs fewer", s.at(spec), spec.Name.Name, m)
			}
			return true
		})
	}
}
