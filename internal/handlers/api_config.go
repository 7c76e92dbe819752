package handlers

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"planwave/internal/model"
	"planwave/internal/plan"
)

// toolDoc is a tool as it is configured.
type toolDoc struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	ReadOnly    bool            `json:"read_only"`
	Schema      json.RawMessage `json:"schema"`
}

// serverDoc is a server that tools come from.
type serverDoc struct {
	Name     string   `json:"name"`
	State    string   `json:"state"` // connecting, connected or failed
	Error    *string  `json:"error"` // what is wrong and what to do
	Tools    int      `json:"tools"`
	Problems []string `json:"problems"` // tools that were left out, with the reason
}

// listTools answers the tools that executors can have, and the servers that
// some of them come from.
func (a *api) listTools(c echo.Context) error {
	out := []toolDoc{}
	for _, t := range a.Tools.List() {
		out = append(out, toolDoc{Name: t.Name, Description: t.Description, ReadOnly: t.ReadOnly, Schema: rawOrNull(t.Schema)})
	}
	servers := []serverDoc{}
	for _, st := range a.servers() {
		d := serverDoc{Name: st.Name, State: string(st.Phase), Tools: st.Tools, Problems: append([]string{}, st.Problems...)}
		if st.Why != "" {
			d.Error = &st.Why
		}
		servers = append(servers, d)
	}
	return writeJSON(c, http.StatusOK, map[string]any{"tools": out, "servers": servers})
}

// modelDoc is a provider's default model, with its limits and price.
type modelDoc struct {
	Name              string       `json:"name"`
	InFlight          int          `json:"in_flight"`
	RequestsPerMinute *int         `json:"requests_per_minute"`
	TokensPerMinute   *int         `json:"tokens_per_minute"`
	TimeoutMS         *int64       `json:"timeout_ms"`
	Price             *model.Price `json:"price"` // null where it is unknown
}

// listModels answers the models of the configured providers, and what each
// role is bound to in a run that names none.
func (a *api) listModels(c echo.Context) error {
	models := []modelDoc{}
	for _, p := range a.Models.Providers() {
		d := modelDoc{Name: p.DefaultModel, InFlight: p.InFlight}
		if ms := p.Timeout.Milliseconds(); ms > 0 {
			d.TimeoutMS = &ms
		}
		if p.RequestsPerMinute > 0 {
			d.RequestsPerMinute = &p.RequestsPerMinute
		}
		if p.TokensPerMinute > 0 {
			d.TokensPerMinute = &p.TokensPerMinute
		}
		if price, ok := a.Models.Price(p.DefaultModel); ok {
			d.Price = &price
		}
		models = append(models, d)
	}
	defaults := map[plan.Role]string{}
	for _, role := range plan.Roles() {
		defaults[role] = a.Models.Default(role)
	}
	return writeJSON(c, http.StatusOK, map[string]any{"models": models, "defaults": defaults})
}

// health registers the checks of load balancers and supervisors, and the figures
// for Prometheus.
func (s *server) health(e *echo.Echo) {
	e.GET("/healthz", alive)
	e.GET("/readyz", s.ready)
	e.GET("/metrics", echo.WrapHandler(s.Metrics.Handler(s.Logger)))
}

// alive says that the process answers.
func alive(c echo.Context) error {
	return writeJSON(c, http.StatusOK, map[string]string{"status": "ok"})
}

// ready says that a run could be made: the database can be written, and every
// role has a model.
func (s *server) ready(c echo.Context) error {
	if err := s.Store.Ready(c.Request().Context()); err != nil {
		return plan.NewError(codeUnavailable, "The database cannot be written: "+shownTo(c.Request(), err).Message, err)
	}
	for _, role := range plan.Roles() {
		if _, _, err := s.Models.Resolve(s.Models.Default(role)); err != nil {
			return plan.NewError(codeUnavailable, "The "+string(role)+" has no model: "+plan.AsError(err).Message, err)
		}
	}
	return alive(c)
}
