package handlers

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"planwave/internal/plan"
)

// apiDocument is the published document as tests hold answers to it.
type apiDocument struct {
	paths    map[string]any
	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// schema compiles the schema at a pointer into the document.
func (d *apiDocument) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(documentURL + pointer)
}

// readDocument reads the embedded document. Its schemas of answers are closed
// here, so that a field that it does not name fails the test.
func readDocument(t testing.TB) *apiDocument {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(publishedDocument()))
	if err != nil {
		t.Fatal(err)
	}
	closeObjects(doc)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(documentURL, doc); err != nil {
		t.Fatal(err)
	}
	return &apiDocument{paths: at(doc, "paths").(map[string]any), compiler: compiler} //nolint:errcheck,forcetypeassert // as OpenAPI has it
}

func at(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, props := v["properties"].(map[string]any)
		_, said := v["additionalProperties"]
		if _, isSchema := v["type"]; props && isSchema && !said {
			v["additionalProperties"] = false
		}
		for _, child := range v {
			closeObjects(child)
		}
	case []any:
		for _, child := range v {
			closeObjects(child)
		}
	}
}

// template is the document's path that an address is an instance of, or "".
func (d *apiDocument) template(path string) string {
	if _, ok := d.paths[path]; ok {
		return path
	}
	for p := range d.paths {
		if regexp.MustCompile(`^` + regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(p, `[^/]+`) + `$`).MatchString(path) {
			return p
		}
	}
	return ""
}

// hold fails the test where an answer is not as the document says.
func (d *apiDocument) hold(t testing.TB, method, path string, a answer) {
	t.Helper()
	p := d.template(path)
	responses, _ := at(d.paths[p], strings.ToLower(method), "responses").(map[string]any)
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	status := fmt.Sprint(a.status)
	if responses == nil || responses[status] == nil {
		if media == "application/problem+json" {
			d.holdTo(t, "#/components/schemas/Problem", a)
		}
		return
	}
	content := "#/paths/" + escapePointer(p) + "/" + strings.ToLower(method) + "/responses/" + status
	if to, ok := at(responses[status], "$ref").(string); ok {
		content = to
	} else if at(responses[status], "content") == nil && a.body == "" {
		return
	} else if at(responses[status], "content", media) == nil {
		t.Fatalf("%s %s answered %s with %q, which the document does not have", method, path, status, media)
	}
	d.holdTo(t, content+"/content/"+escapePointer(media)+"/schema", a)
}

func (d *apiDocument) holdTo(t testing.TB, pointer string, a answer) {
	t.Helper()
	schema, err := d.schema(pointer)
	if err != nil {
		t.Fatalf("the document has no %s: %v", pointer, err)
	}
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		return
	}
	var v any = a.body // a text or a picture
	if strings.Contains(a.header.Get("Content-Type"), "json") {
		if v, err = jsonschema.UnmarshalJSON(strings.NewReader(a.body)); err != nil {
			t.Fatalf("the answer is not JSON: %v\n%s", err, a.body)
		}
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("the answer is not as %s says: %v\n%s", pointer, err, a.body)
	}
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

// The published document and the router name the same routes.
func TestDocumentNamesEveryRouteAndNoOther(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	var routed, published []string
	for _, r := range s.echo.Routes() {
		if strings.HasPrefix(r.Path, "/api/") || r.Path == "/healthz" || r.Path == "/readyz" || r.Path == "/metrics" {
			path := regexp.MustCompile(`:([a-z]+)`).ReplaceAllString(r.Path, "{$1}")
			routed = append(routed, r.Method+" "+path)
		}
	}
	for path, item := range s.doc.paths {
		for method := range item.(map[string]any) { //nolint:errcheck,forcetypeassert // as OpenAPI has it
			published = append(published, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(routed)
	slices.Sort(published)
	if !slices.Equal(routed, published) {
		t.Errorf("routed:\n%s\npublished:\n%s", strings.Join(routed, "\n"), strings.Join(published, "\n"))
	}
	if len(routed) < 15 {
		t.Errorf("only %d routes were found", len(routed))
	}
}

// The document is served as it is embedded, and every schema in it compiles.
func TestDocumentIsServedAndEverySchemaCompiles(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	a := s.want(200, "GET", "/api/v1/openapi.json", "")
	if a.body != string(publishedDocument()) {
		t.Error("the document served is not the embedded one")
	}
	var doc struct {
		OpenAPI    string
		Components struct{ Schemas map[string]any }
	}
	a.json(t, &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Components.Schemas) < 20 {
		t.Errorf("OpenAPI %q with %d schemas", doc.OpenAPI, len(doc.Components.Schemas))
	}
	for name := range doc.Components.Schemas {
		if _, err := s.doc.schema("#/components/schemas/" + name); err != nil {
			t.Errorf("schema %s: %v", name, err)
		}
	}
}

// The words that the document lists are those of the code, and every event is
// described.
func TestDocumentListsTheWordsOfTheCode(t *testing.T) {
	d := readDocument(t)
	enum := func(name string) []string {
		schema, err := d.schema("#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, v := range schema.Enum.Values {
			out = append(out, fmt.Sprint(v))
		}
		return out
	}
	var runStatuses, stepStatuses []string
	for _, s := range plan.RunStatuses() {
		runStatuses = append(runStatuses, string(s))
	}
	for _, s := range plan.StepStatuses() {
		stepStatuses = append(stepStatuses, string(s))
	}
	if got := enum("RunStatus"); !slices.Equal(got, runStatuses) {
		t.Errorf("run statuses %v, want %v", got, runStatuses)
	}
	if got := enum("StepStatus"); !slices.Equal(got, stepStatuses) {
		t.Errorf("step statuses %v, want %v", got, stepStatuses)
	}
}

// The document lists every type of event with the fields that it has, and no
// other.
func TestDocumentListsTheFieldsOfEveryEvent(t *testing.T) {
	described, _ := at(readDocument(t).paths["/api/v1/runs/{id}/events"], "get", "description").(string)
	listed := map[string][]string{}
	words := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(described) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		fields := []string{}
		for _, m := range words.FindAllStringSubmatch(cells[2], -1) {
			fields = append(fields, m[1])
		}
		slices.Sort(fields)
		for _, m := range words.FindAllStringSubmatch(cells[1], -1) {
			listed[m[1]] = fields
		}
	}
	delete(listed, "seq") // of the table's head
	delete(listed, "at")
	for _, e := range plan.EventTypes() {
		p, err := plan.Decode(e, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		want := fieldsOf(reflect.TypeOf(p))
		slices.Sort(want)
		if got, ok := listed[string(e)]; !ok || !slices.Equal(got, want) {
			t.Errorf("the document lists %s with %q, want %q", e, got, want)
		}
		delete(listed, string(e))
	}
	if len(listed) > 0 {
		t.Errorf("the document lists events that there are not: %v", listed)
	}
}

// fieldsOf lists the names that a type's fields have in JSON.
func fieldsOf(typ reflect.Type) []string {
	fields := []string{}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		switch {
		case name == "" && typ.Field(i).Anonymous:
			fields = append(fields, fieldsOf(typ.Field(i).Type)...)
		case name != "" && name != "-":
			fields = append(fields, name)
		}
	}
	return fields
}
