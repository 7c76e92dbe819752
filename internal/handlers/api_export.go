package handlers

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/export"
	"planwave/internal/layout"
	"planwave/internal/plan"
)

// exportFormats are what a run can be written as, the one that comes back whole
// first.
func exportFormats() []string { return []string{"json", "md", "mermaid", "dot", "svg"} }

// exportRun answers with a run as a file.
func (a *api) exportRun(c echo.Context) error {
	format := c.QueryParam("format")
	if format == "" || format == "json" {
		if l := sharedOf(c); l.is() && !l.Trace {
			return plan.NewError(plan.CodeNotFound, "This link shows the run without its trace; it can be saved as md, mermaid, dot or svg.", nil)
		}
		rec, err := a.Runs.Export(c.Request().Context(), shownRun(c))
		if err != nil {
			return err
		}
		attach(c, rec.ID, "json")
		return writeJSON(c, http.StatusOK, rec)
	}
	r, err := a.Runs.Get(c.Request().Context(), shownRun(c))
	if err != nil {
		return err
	}
	r = sharedOf(c).shows(r)
	switch format {
	case "md":
		calls, err := a.Store.Trace(c.Request().Context(), r.ID)
		if err != nil {
			return err
		}
		if l := sharedOf(c); l.is() && !l.Trace {
			calls = nil
		}
		attach(c, r.ID, "md")
		return c.Blob(http.StatusOK, "text/markdown; charset=utf-8", []byte(export.Markdown(r, calls)))
	case "mermaid":
		attach(c, r.ID, "mmd")
		return c.Blob(http.StatusOK, "text/vnd.mermaid; charset=utf-8", []byte(export.Mermaid(export.OfRun(r))))
	case "dot":
		attach(c, r.ID, "dot")
		return c.Blob(http.StatusOK, "text/vnd.graphviz; charset=utf-8", []byte(export.DOT(export.OfRun(r))))
	case "svg":
		attach(c, r.ID, "svg")
		return a.answerSVG(c, export.OfRun(r))
	}
	return withViolation(plan.CodeInvalid, "format",
		fmt.Sprintf("The format %q is not there; it is one of %s.", plan.Short(format, mostEchoed), strings.Join(exportFormats(), ", ")))
}

// attach has the browser save the answer as a file.
func attach(c echo.Context, id, ending string) {
	c.Response().Header().Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": "planwave-" + id + "." + ending}))
}

// picturePolicy lets a picture that is opened by itself do nothing.
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// answerSVG answers with a plan as a picture.
func (a *api) answerSVG(c echo.Context, s export.Source) error {
	d, err := a.laidOut(c.Request().Context(), s.Plan, layout.Down)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Content-Security-Policy", picturePolicy)
	return c.Blob(http.StatusOK, "image/svg+xml", export.SVG(s, d))
}

// laidOut draws a plan, or says why it cannot be drawn.
func (a *api) laidOut(ctx context.Context, p plan.Plan, dir layout.Direction) (layout.Drawing, error) {
	if len(p.Steps) == 0 {
		return layout.Drawing{}, plan.NewError(plan.CodeUnexpected, "There is no plan to draw yet. Ask again when it is there.", nil)
	}
	ctx, cancel := context.WithTimeout(ctx, drawingTime)
	defer cancel()
	d, err := layOut(ctx, p, dir)
	if err != nil {
		return d, plan.NewError(plan.CodeInvalid, noPicture(err), err)
	}
	return d, nil
}

// layoutDoc is a plan's picture as numbers, in px from the top left.
type layoutDoc struct {
	Width  float64      `json:"width"`
	Height float64      `json:"height"`
	Nodes  []layoutNode `json:"nodes"`
	Edges  []layoutEdge `json:"edges"`
	Waves  []layoutBand `json:"waves"`
}

type layoutNode struct {
	ID     string  `json:"id"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type layoutEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Path string `json:"path"` // as the attribute d of an SVG path
}

type layoutBand struct {
	Wave   int     `json:"wave"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// layoutPlan answers where the steps and edges of a plan lie, or with the
// picture of it.
func (a *api) layoutPlan(c echo.Context) error {
	var body struct {
		Plan      plan.Plan        `json:"plan"`
		Format    string           `json:"format"`
		Direction layout.Direction `json:"direction"`
	}
	body.Format, body.Direction = "json", layout.Down
	if err := a.read(c, "LayoutRequest", &body); err != nil {
		return err
	}
	if f := c.QueryParam("format"); f != "" {
		body.Format = f
	}
	if err := ordered(body.Plan); err != nil {
		return err
	}
	switch body.Format {
	case "svg":
		return a.answerSVG(c, export.OfPlan(body.Plan))
	case "json":
	default:
		return withViolation(plan.CodeInvalid, "format", fmt.Sprintf("The format %q is not there; it is json or svg.", plan.Short(body.Format, mostEchoed)))
	}
	d, err := a.laidOut(c.Request().Context(), body.Plan, body.Direction)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, layoutOf(body.Plan, d))
}

func layoutOf(p plan.Plan, d layout.Drawing) layoutDoc {
	doc := layoutDoc{Width: d.W, Height: d.H, Nodes: []layoutNode{}, Edges: []layoutEdge{}, Waves: []layoutBand{}}
	for i, b := range d.Nodes {
		doc.Nodes = append(doc.Nodes, layoutNode{ID: p.Steps[i].ID, X: b.X, Y: b.Y, Width: b.W, Height: b.H})
	}
	for i, e := range edgesOf(p) {
		doc.Edges = append(doc.Edges, layoutEdge{From: e[0], To: e[1], Path: d.Paths[i].SVG()})
	}
	for _, l := range d.Layers {
		doc.Waves = append(doc.Waves, layoutBand{Wave: l.Rank + 1, X: l.X, Y: l.Y, Width: l.W, Height: l.H})
	}
	return doc
}
