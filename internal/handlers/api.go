package handlers

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// api is the JSON API. Requests are held to the schemas of the document that
// it publishes, so that the document cannot say anything else than the code.
type api struct {
	*server
	requests map[string]*jsonschema.Schema // by the name of the schema
}

// api registers the JSON API, version 1.
func (s *server) api(g *echo.Group) *api {
	a := &api{server: s, requests: requestSchemas()}

	g.POST("/runs", a.createRun, s.idempotent)
	g.GET("/runs", a.listRuns)
	g.GET("/runs/:id", a.getRun)
	g.DELETE("/runs/:id", a.deleteRun)
	g.POST("/runs/:id/shares", a.shareRun) // its answer is a secret, and is not kept for a repeat
	g.DELETE("/runs/:id/shares/:share", a.unshareRun)
	g.POST("/runs/:id/cancel", a.cancelRun, s.idempotent)
	g.GET("/runs/:id/events", a.streamEvents)
	g.GET("/runs/:id/trace", a.getTrace)

	g.POST("/runs/:id/steps/:step/retry", a.retryStep, s.idempotent)
	g.POST("/runs/:id/continue", a.continueRun, s.idempotent)
	g.POST("/runs/:id/answer", a.answerAgain, s.idempotent)
	g.POST("/runs/:id/fork", a.forkRun, s.idempotent)
	g.POST("/runs/:id/approvals/:approval", a.decideCall, s.idempotent)

	g.POST("/runs/:id/replay", a.replayRun, s.idempotent)
	g.GET("/runs/:id/export", a.exportRun)
	g.POST("/runs/import", a.importRun, s.idempotent)

	g.GET("/runs/:id/versions", a.listVersions)
	g.PUT("/runs/:id/plan", a.editPlan)
	g.POST("/runs/:id/plan/revise", a.revisePlan, s.idempotent)
	g.POST("/runs/:id/approve", a.approvePlan, s.idempotent)
	g.POST("/plans/check", a.checkPlan, s.idempotent)
	g.POST("/plans/affected", a.affectedSteps, s.idempotent)
	g.POST("/plans/layout", a.layoutPlan)

	g.GET("/tools", a.listTools)
	g.GET("/models", a.listModels)
	g.GET("/openapi.json", openAPI)
	return a
}

//go:embed openapi.json
var documents embed.FS

// publishedDocument returns the published OpenAPI document.
func publishedDocument() []byte {
	b, err := documents.ReadFile("openapi.json")
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}

func openAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, publishedDocument())
}

// documentURL is where the schemas' references to each other start from. It is
// never fetched.
const documentURL = "https://planwave.invalid/openapi.json"

// requestSchemas compiles the schemas of the request bodies. It panics where
// the embedded document is broken, which every test would see.
func requestSchemas() map[string]*jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(publishedDocument()))
	if err != nil {
		panic(fmt.Errorf("read openapi.json: %w", err))
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(documentURL, doc); err != nil {
		panic(fmt.Errorf("read openapi.json: %w", err))
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, name := range []string{
		"AskRequest", "EditRequest", "ReviseRequest", "ApproveRequest", "EmptyRequest", "ContinueRequest", "AnswerRequest",
		"ForkRequest", "ImportRequest", "DecideRequest", "CheckRequest", "AffectedRequest", "LayoutRequest", "ShareRequest",
	} {
		schemas[name] = compiler.MustCompile(documentURL + "#/components/schemas/" + name)
	}
	return schemas
}

// writeJSON answers with v. It is written whole or not at all, and nobody
// keeps it, since it changes.
func writeJSON(c echo.Context, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write an answer as JSON: %w", err)
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(status, echo.MIMEApplicationJSON, b.Bytes())
}

// stamp is a time as the API writes it: RFC 3339 in UTC with three digits of
// milliseconds; null for the zero time.
type stamp time.Time

// MarshalJSON writes the time.
func (t stamp) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// orNull is a text of which "" means that there is none.
func orNull[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// orEmpty is a list that is [] in JSON when it is empty, never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// oneOf lists the members of a set in words.
func oneOf[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}
