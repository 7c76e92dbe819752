package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// readEditor reads the run and the draft of the editor's form.
func (s *server) readEditor(c echo.Context) (view, draft, error) {
	v, err := s.viewOf(c)
	if err != nil {
		return v, draft{}, err
	}
	form, err := c.FormParams()
	if err != nil {
		return v, draft{}, badForm("steps", "The form cannot be read. Go back and send it again.")
	}
	d, err := readDraft(form)
	return v, d, err
}

// draft checks and draws what is typed in the editor. Nothing is saved.
func (s *server) draft(c echo.Context) error {
	v, d, err := s.readEditor(c)
	if err != nil {
		return err
	}
	e := s.editorOf(c.Request().Context(), v, d, -1)
	for i := range e.Steps {
		e.Steps[i].Said = slices.Contains(c.Request().Form["said"], strconv.Itoa(i))
	}
	return show(c, http.StatusOK, templates.DraftPatch(e))
}

// savePlan takes the editor's form by the button that sent it: save, approve,
// or an edit that only changes the form.
func (s *server) savePlan(c echo.Context) error {
	v, d, err := s.readEditor(c)
	if err != nil {
		return err
	}
	op := c.FormValue("op")
	newest, _ := v.run.Version()
	switch {
	case op == "save" || op == "approve" || op == "":
		return s.saveDraft(c, v, d, op == "approve")
	case op == "show" && d.Base != newest.Number && v.run.Editable():
		return s.showMerged(c, d)
	}
	before := len(d.Plan.Steps)
	if err := d.edit(op, s.Runs.CheckPlan(v.run, d.Plan)); err != nil {
		return err
	}
	p := s.editorPage(c, v, d)
	if len(d.Plan.Steps) > before {
		p.Editor.Focus = slices.IndexFunc(d.Plan.Steps, func(st plan.Step) bool { return st.Instruction == "" })
	}
	return show(c, http.StatusOK, templates.Run(p))
}

// saveDraft saves the draft as a new version, and approves it where asked to.
// What cannot be saved is shown again as it was typed, with what is wrong.
func (s *server) saveDraft(c echo.Context, v view, d draft, approve bool) error {
	ctx := c.Request().Context()
	run, err := s.Runs.Edit(ctx, v.run.ID, d.Base, d.Plan, by(c))
	edited := err == nil
	if edited {
		// What follows is about what is saved now.
		saved, _ := run.Version()
		v.run, d.Base = run, saved.Number
		if approve {
			_, err = s.Runs.Approve(ctx, run.ID, saved.Number, by(c))
		}
	}
	if err == nil {
		return toRun(c, v.run.ID, "")
	}
	e := plan.AsError(err)
	switch e.Code {
	case plan.CodePlanInvalid:
		return s.showEditor(c, http.StatusUnprocessableEntity, v, d)
	case plan.CodeStale:
		return s.showMerged(c, d)
	case plan.CodeUnexpected:
		p := s.editorPage(c, v, d)
		p.Notice = templates.NoticeProps{
			Tone: "failed", Title: "Somebody else changed this run meanwhile", Text: e.Message,
			Lost: "Nothing of yours is lost: it is still in the form below.",
			Todo: "Open the run in another tab to see what changed.",
		}
		if edited {
			p.Notice.Title = "Your plan could not be approved"
			p.Notice.Lost = fmt.Sprintf("It is saved as version %d.", d.Base)
		}
		return show(c, http.StatusConflict, templates.Run(p))
	}
	return err
}

// showMerged shows a draft of an older version on top of the newest one, for a
// person to look at and save. Nothing is saved.
func (s *server) showMerged(c echo.Context, d draft) error {
	v, err := s.viewOf(c)
	if err != nil {
		return err
	}
	newest, _ := v.run.Version()
	n := templates.NoticeProps{
		Tone: "waiting", Title: fmt.Sprintf("Version %d was saved meanwhile", newest.Number),
		Lost: "Nothing of yours is lost, and nothing is saved yet: your changes are put on top of it in the form below.",
		Todo: "Look at it, then save or approve again. Discard takes the saved version as it is.",
	}
	if i := slices.IndexFunc(v.run.Versions, func(was plan.Version) bool { return was.Number == d.Base }); i >= 0 {
		base, both := v.run.Versions[i].Plan, []string(nil)
		n.Text = fmt.Sprintf("Against version %d, which you edited, it %s.", d.Base, sentence(plan.Diff(base, newest.Plan)))
		d.Plan, both = plan.Merge(base, d.Plan, newest.Plan)
		for _, id := range both {
			n.Violations = append(n.Violations, fmt.Sprintf("%s was changed by both: yours stands below.%s", id, theirs(newest.Plan, id)))
		}
	}
	d.Base = newest.Number
	p := s.editorPage(c, v, d)
	p.Notice = n
	return show(c, http.StatusConflict, templates.Run(p))
}

// theirs says how a step is in the saved version.
func theirs(p plan.Plan, id string) string {
	st, there := p.Step(id)
	if !there {
		return " The saved version has it no more."
	}
	needs := "nothing"
	if len(st.DependsOn) > 0 {
		needs = templates.List(st.DependsOn)
	}
	return fmt.Sprintf(" In the saved version it needs %s and says: %s", needs, plan.Short(st.Instruction, 200))
}

func (s *server) showEditor(c echo.Context, status int, v view, d draft) error {
	return show(c, status, templates.Run(s.editorPage(c, v, d)))
}

// editorPage is the run's page with the editor. It holds no stream, so that
// nothing comes between a person and what they type.
func (s *server) editorPage(c echo.Context, v view, d draft) templates.RunPageProps {
	editor := s.editorOf(c.Request().Context(), v, d, -1)
	p := templates.RunPageProps{
		Page: s.pageProps(c, "Edit – "+plan.Short(v.run.Question, 80), "history"), Head: v.head(), Editor: &editor,
	}
	p.Page.Icon, p.Page.Wide = tabIcon(v.run.Status), true
	return p
}

// editorOf is the editor with a draft in it: checked, and drawn where that can be.
func (s *server) editorOf(ctx context.Context, v view, d draft, focus int) templates.EditorProps {
	violations := s.Runs.CheckPlan(v.run, d.Plan)
	e := templates.EditorProps{
		SaveURL: v.url() + "/plan", DraftURL: v.url() + "/draft", DiscardURL: v.url(), Version: d.Base,
		Deliverable: d.Plan.Deliverable, Focus: focus, Graph: s.draftGraph(ctx, v, d.Plan, violations), Changed: v.differs(d.Plan),
	}
	set, err := s.Tools.Subset(v.run.Options.Tools)
	if err == nil {
		for _, t := range set.List() {
			e.Tools = append(e.Tools, templates.ToolChoice{Name: t.Name, Description: t.Description})
		}
	}
	for _, st := range d.Plan.Steps {
		e.Steps = append(e.Steps, editorStep(st, d.Plan))
	}
	e.Global = place(violations, d.Plan, e.Steps)
	if !plan.Valid(violations) {
		n := 0
		for _, b := range violations {
			if !b.Warning {
				n++
			}
		}
		e.Blocked = templates.Counted(n, "rule is", "rules are") + " broken. Mend that first."
	} else if !v.run.Approvable() {
		e.Blocked = "The run no longer waits for approval."
	}
	return e
}

func (v view) differs(p plan.Plan) bool {
	now, _ := v.run.Version()
	hash, err := plan.Hash(p)
	return err != nil || hash != now.Hash
}

func editorStep(st plan.Step, p plan.Plan) templates.EditorStep {
	out := templates.EditorStep{
		ID: st.ID, Instruction: st.Instruction, Tool: st.Tool, Input: inputText(st.Input), Strategy: string(st.Strategy),
	}
	if st.Contract != nil {
		out.Contract = contractText(*st.Contract)
	}
	known := map[string]bool{}
	for _, other := range p.Steps {
		known[other.ID] = true
		if other.ID != st.ID {
			out.Deps = append(out.Deps, templates.DepChoice{ID: other.ID, On: slices.Contains(st.DependsOn, other.ID)})
		}
	}
	for _, d := range st.DependsOn {
		if !known[d] || d == st.ID {
			out.Deps = append(out.Deps, templates.DepChoice{ID: d, On: true, Unknown: true})
		}
	}
	return out
}

// place puts each violation at the step it concerns and returns those that
// concern none, or the plan as a whole.
func place(violations []plan.Violation, p plan.Plan, steps []templates.EditorStep) []templates.ViolationProps {
	var global []templates.ViolationProps
	for i, b := range violations {
		out := templates.ViolationProps{Code: string(b.Code), Message: b.Message, Warning: b.Warning, Index: i}
		at := -1
		where := b.Steps
		if b.Mend != nil {
			out.Mend = b.Mend.Label
			where = append([]string{b.Mend.Step}, where...)
		}
		for _, id := range where {
			if at = slices.IndexFunc(p.Steps, func(st plan.Step) bool { return st.ID == id }); at >= 0 {
				break
			}
		}
		if at < 0 || b.Code == plan.CodeTooManySteps {
			global = append(global, out)
			continue
		}
		steps[at].Violations = append(steps[at].Violations, out)
	}
	return global
}

// draftGraph is the draft drawn, with the steps marked that break a rule.
func (s *server) draftGraph(ctx context.Context, v view, p plan.Plan, violations []plan.Violation) templates.GraphProps {
	drawable, _ := plan.Mended(p)
	g := s.draw(ctx, drawable)
	g.Draft, g.Key = true, "draft-"+v.run.ID
	broken := map[string]bool{}
	for _, b := range violations {
		for _, id := range b.Steps {
			broken[id] = broken[id] || !b.Warning
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Draft, n.Invalid = true, broken[n.ID]
		at := slices.IndexFunc(p.Steps, func(st plan.Step) bool { return st.ID == n.ID })
		n.URL = "#step-" + strconv.Itoa(at)
		if strings.TrimSpace(n.Instruction) == "" {
			n.Instruction = "(no instruction yet)"
		}
	}
	return g
}

// contractText is a contract as the form carries it along.
func contractText(c plan.Contract) string {
	b, err := json.Marshal(c)
	if err != nil {
		return "" // texts always encode
	}
	return string(b)
}
