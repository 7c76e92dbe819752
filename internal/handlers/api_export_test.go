package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// A run is a file in every format, saved under a name that tells which.
func TestExports(t *testing.T) { // BEHAVIOUR 12.5
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusSucceeded)
	tests := map[string]struct{ kind, ending, holds string }{
		"json":    {"application/json", "json", `"format":1`},
		"md":      {"text/markdown", "md", "## Answer"},
		"mermaid": {"text/vnd.mermaid", "mmd", "flowchart TD"},
		"dot":     {"text/vnd.graphviz", "dot", "digraph plan {"},
		"svg":     {"image/svg+xml", "svg", "</svg>"},
	}
	for _, format := range exportFormats() {
		want := tests[format]
		got := s.want(200, "GET", "/api/v1/runs/"+id+"/export?format="+format, "")
		if !strings.HasPrefix(got.header.Get("Content-Type"), want.kind) || !strings.Contains(got.body, want.holds) ||
			got.header.Get("Content-Disposition") != "attachment; filename=planwave-"+id+"."+want.ending || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v\n%.400s", format, got.header, got.body)
		}
		if format == "svg" && got.header.Get("Content-Security-Policy") != picturePolicy {
			t.Errorf("a picture may %q", got.header.Get("Content-Security-Policy"))
		}
		if page := s.page("/runs/" + id); page.Find(`a[href="/api/v1/runs/`+id+`/export?format=`+format+`"]`).Length() != 1 {
			t.Errorf("the page does not offer %s", format)
		}
	}
}

func TestAPlanIsLaidOut(t *testing.T) { // API.md, plans/layout
	s := newSite(t, &scriptedModel{})
	const body = `{"plan":{"steps":[{"id":"a","instruction":"x","depends_on":[]},{"id":"b","instruction":"y","depends_on":["a"]}]}`
	var down, right layoutDoc
	for dir, doc := range map[string]*layoutDoc{"down": &down, "right": &right} {
		got := s.want(200, "POST", "/api/v1/plans/layout", body+`,"direction":"`+dir+`"}`)
		if err := json.Unmarshal([]byte(got.body), doc); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := down.Nodes[0], down.Nodes[1]; a.ID != "a" || b.Y < a.Y+a.Height || len(down.Edges) != 1 || down.Edges[0].From != "a" || !strings.HasPrefix(down.Edges[0].Path, "M") {
		t.Errorf("down is %+v", down)
	}
	if a, b := right.Nodes[0], right.Nodes[1]; b.X < a.X+a.Width || right.Waves[1].X <= right.Waves[0].X {
		t.Errorf("right is %+v", right)
	}
	for _, got := range []answer{
		s.want(200, "POST", "/api/v1/plans/layout?format=svg", body+"}"), s.want(200, "POST", "/api/v1/plans/layout", body+`,"format":"svg"}`),
	} {
		if got.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(got.body, "<svg") {
			t.Errorf("%v %s", got.header, got.body)
		}
	}
	s.wantProblem(422, plan.CodePlanInvalid, "POST", "/api/v1/plans/layout", `{"plan":{"steps":[{"id":"a","instruction":"x","depends_on":["a"]}]}}`, "plan")
	s.wantProblem(422, plan.CodePlanInvalid, "POST", "/api/v1/plans/layout", `{"plan":{"steps":[]}}`, "plan")
	s.wantProblem(422, plan.CodeInvalid, "POST", "/api/v1/plans/layout", body+`,"format":"png"}`, "format")
	if !slices.Equal(exportFormats(), []string{"json", "md", "mermaid", "dot", "svg"}) {
		t.Error("the formats are others than the document's")
	}
}

// An exported run is taken in by a form; what is no such file is refused with
// what to do.
func TestARunIsImportedByAForm(t *testing.T) { // BEHAVIOUR 12.5
	s := newSite(t, &scriptedModel{})
	id := s.askGiven(plan.ApprovalAuto)
	s.until(id, plan.RunStatusSucceeded)
	file := s.want(200, "GET", "/api/v1/runs/"+id+"/export", "").body
	upload := func(text string) answer {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile("file", "run.json")
		if err != nil {
			t.Fatal(err)
		}
		_, err = part.Write([]byte(text))
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return s.send(s.request("POST", "/runs/import", &body, "Content-Type", w.FormDataContentType()))
	}
	if got := upload(file); got.status != 200 || !strings.Contains(got.body, "a recording") {
		t.Errorf("%d: %.300s", got.status, got.body)
	}
	for text, want := range map[string]string{"nothing": "run.json is no run", `{"format":9}`: "its format is 9", strings.Replace(file, "run.succeeded", "run.created", 1): "no recording of a run"} {
		if got := upload(text); got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("%.20s: %d: %.600s", text, got.status, got.body)
		}
	}
	if got := s.form("/runs/import", nil); got.status < 400 || got.status >= 500 {
		t.Errorf("no file: %d %.300s", got.status, got.body)
	}
}
