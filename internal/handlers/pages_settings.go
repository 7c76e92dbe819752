package handlers

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/tools/mcp"
	"planwave/web/templates"
)

// spendDays is how many days the settings page looks back.
const spendDays = 30

// testTokens is the most that a model may write when it is tried out. Models
// that think first need a few hundred.
const testTokens = 500

// testTimeout is how long a model that is tried out may take.
const testTimeout = 30 * time.Second

// settings shows what is configured and whether it works.
func (s *server) settings(c echo.Context) error {
	return s.showSettings(c, http.StatusOK, nil)
}

// showSettings shows the page with what came of a form on it, which alter adds.
func (s *server) showSettings(c echo.Context, status int, alter func(*templates.SettingsProps)) error {
	ctx := c.Request().Context()
	days, err := s.Store.Spend(ctx, s.Clock().AddDate(0, 0, -spendDays))
	if err != nil {
		return err
	}
	used, err := s.Store.Storage(ctx)
	if err != nil {
		return err
	}
	p := s.settingsOf(days, used)
	p.Page = s.pageProps(c, "Settings", "settings")
	if p.People, err = s.peopleOf(c); err != nil {
		return err
	}
	if alter != nil {
		alter(&p)
	}
	return show(c, status, templates.Settings(p))
}

func (s *server) settingsOf(days []db.Day, used db.Storage) templates.SettingsProps {
	p := templates.SettingsProps{Limits: s.limits(), Days: daysOf(days), Storage: storageOf(used)}
	for _, role := range plan.Roles() {
		p.Roles = append(p.Roles, templates.RoleProps{Role: string(role), Model: s.Models.Default(role)})
	}
	for _, name := range s.modelNames() {
		p.Providers = append(p.Providers, s.providerOf(name))
	}
	for _, t := range s.Tools.List() {
		p.Tools = append(p.Tools, templates.ToolProps{Name: t.Name, Description: t.Description, ReadOnly: t.ReadOnly, Schema: indented(t.Schema)})
	}
	for _, state := range s.servers() {
		p.Servers = append(p.Servers, serverOf(state))
	}
	return p
}

// servers is what has become of the servers of tools.
func (s *server) servers() []mcp.State {
	if s.Servers == nil {
		return nil
	}
	return s.Servers()
}

// testModel tries a model out with one small request.
func (s *server) testModel(c echo.Context) error {
	name := c.FormValue("model")
	m, short, err := s.Models.Resolve(name)
	if err != nil {
		return err
	}
	tested := s.tryOut(c.Request().Context(), name, m, short)
	if c.Request().Header.Get("HX-Request") != "" {
		return show(c, http.StatusOK, templates.Tested(tested))
	}
	return s.showSettings(c, http.StatusOK, func(p *templates.SettingsProps) {
		for i := range p.Providers {
			if m := &p.Providers[i]; m.Tested.ID == tested.ID {
				m.Tested = tested
			}
		}
	})
}

// tryOut asks a model for a word. Nothing of it is recorded.
func (s *server) tryOut(ctx context.Context, name string, m model.Model, short string) templates.TestedProps {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	began := s.Clock()
	resp, err := m.Generate(ctx, model.Request{
		Model: short, Role: plan.RoleExecutor, System: "You are being tested.", MaxOutputTokens: testTokens,
		Messages: []model.Message{{Speaker: model.User, Text: "Answer with the word ready."}},
	})
	t := testedOf(name, resp, err)
	t.Title += ", " + templates.Duration(s.Clock().Sub(began))
	return t
}

// testURL is where a model is tried out.
func testURL(name string) string { return "/settings/test?model=" + url.QueryEscape(name) }
