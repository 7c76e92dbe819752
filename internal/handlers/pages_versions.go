package handlers

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// compared is a version of a run's plan, and the one that it is held against; no
// plan at all, of number 0, for a first version.
type compared struct {
	run      *plan.Run
	shared   sharedLink
	at       string // the run's page
	was, now plan.Version
}

// readCompared reads which versions a request is about: by default a version is
// held against the one before.
func (s *server) readCompared(c echo.Context) (compared, error) {
	shared := sharedOf(c)
	r, err := s.Runs.Get(c.Request().Context(), shownRun(c))
	if err != nil {
		return compared{}, err
	}
	r = shared.shows(r)
	d := compared{run: r, shared: shared, at: view{run: r, shared: shared}.url()}
	at, err := versionAt(r, c.Param("version"))
	if err != nil {
		return d, err
	}
	d.now = r.Versions[at]
	if against := c.QueryParam("against"); against != "" {
		at, err = versionAt(r, against)
		if err != nil {
			return d, err
		}
		d.was = r.Versions[at]
	} else if at > 0 {
		d.was = r.Versions[at-1]
	}
	return d, nil
}

func versionAt(r *plan.Run, text string) (int, error) {
	n, err := strconv.Atoi(text)
	at := slices.IndexFunc(r.Versions, func(v plan.Version) bool { return v.Number == n })
	if err != nil || at < 0 {
		return -1, plan.NewError(plan.CodeNotFound, fmt.Sprintf("The plan of this run has no version %q; it has %s.",
			plan.Short(text, 40), templates.Counted(len(r.Versions), "version", "versions")), err)
	}
	return at, nil
}

// versions is a version of the plan against another, drawn and in words.
func (s *server) versions(c echo.Context) error {
	d, err := s.readCompared(c)
	if err != nil {
		return err
	}
	p := d.page()
	p.Page = s.pageProps(c, fmt.Sprintf("Version %d – %s", d.now.Number, plan.Short(d.run.Question, 80)), "history")
	p.Page.Shared = d.shared.props()
	p.Page.Wide, p.Page.Styles = true, []string{"css/versions.css"}
	p.Graph = d.mark(s.draw(c.Request().Context(), d.drawn()))
	return show(c, http.StatusOK, templates.Versions(p))
}

// versionsCSS places the nodes of the picture of two versions. It is the same
// for ever, since a version does not change.
func (s *server) versionsCSS(c echo.Context) error {
	d, err := s.readCompared(c)
	if err != nil {
		return err
	}
	g := s.draw(c.Request().Context(), d.drawn())
	keepForEver(c)
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(templates.GraphCSS(g)))
}

// versionURL is the address of a version held against another; against 0 means
// the one before.
func versionURL(at string, number, against int) string {
	to := at + "/versions/" + strconv.Itoa(number)
	if against > 0 {
		to += "?against=" + strconv.Itoa(against)
	}
	return to
}
