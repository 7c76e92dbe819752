package main

import (
	"context"
	"strconv"
	"time"

	"planwave/internal/layout"
	"planwave/internal/plan"
	"planwave/web/templates"
)

const (
	runURL   = "/runs/0198c0de"
	question = "Which of Brindlemoor, Quillhaven and Tarnby is the most densely populated, and what is its density?"
)

// now is the moment at which every page of the gallery is rendered.
func now() time.Time { return time.Date(2026, time.March, 4, 14, 30, 12, 345e6, time.UTC) }

// ago is a moment before now.
func ago(d time.Duration) time.Time { return now().Add(-d) }

func page(theme string) templates.PageProps {
	return templates.PageProps{Title: "Gallery", Path: "/", Theme: theme, Now: now()}
}

// cities is the plan of the sample question.
func cities() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "Look up the population and the area of Brindlemoor and work out its density in people per km².", Tool: ""},
		{ID: "s2", Instruction: "Look up the population and the area of Quillhaven and work out its density in people per km².", Tool: ""},
		{ID: "s3", Instruction: "Look up the population and area of Tarnby.", Tool: "get_city", Input: []byte(`"Tarnby"`)},
		{ID: "s4", Instruction: "Compare the three densities, and name the city with the highest one and its density, rounded to one decimal place.", DependsOn: []string{"s1", "s2", "s3"}},
	}}
}

// stepState is how a step of a canned run stands.
type stepState struct {
	status plan.StepStatus
	took   time.Duration
	tokens int
	cause  string
	kept   bool
}

// graph draws a plan with its states.
func graph(key string, p plan.Plan, states map[string]stepState, selected string) templates.GraphProps {
	d, waves := draw(p, templates.NodeHeight)
	g := templates.GraphProps{W: d.W, H: d.H, Key: key, StylesheetURL: "/graphs/" + key + ".css"}
	for i, s := range p.Steps {
		st := states[s.ID]
		if st.status == "" {
			st.status = plan.StepStatusPending
		}
		n := templates.NodeProps{
			ID: s.ID, Instruction: s.Instruction, Tool: s.Tool, Status: st.status, Kept: st.kept, Cause: st.cause,
			Final: i == len(p.Steps)-1, X: d.Nodes[i].X, Y: d.Nodes[i].Y, W: d.Nodes[i].W, H: d.Nodes[i].H,
			URL: runURL + "?step=" + s.ID, PanelURL: runURL + "/panel?step=" + s.ID, Selected: s.ID == selected,
			Tokens: st.tokens, Now: now(),
		}
		if st.took > 0 {
			n.Started, n.Ended = ago(st.took), now()
			if st.status == plan.StepStatusRunning {
				n.Ended = time.Time{}
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	g.Edges = edges(p, d, states)
	g.Bands = bands(d, waves)
	return g
}

// draw lays a plan out by its waves.
func draw(p plan.Plan, height float64) (layout.Drawing, []int) {
	waves, err := plan.Waves(p)
	if err != nil {
		panic(err) // the plans are canned
	}
	at, ranks := map[string]int{}, make([]int, len(p.Steps))
	lg := layout.Graph{}
	for i, s := range p.Steps {
		at[s.ID] = i
		lg.Nodes = append(lg.Nodes, layout.Node{ID: s.ID, W: templates.NodeWidth, H: height})
	}
	for n, ids := range waves {
		for _, id := range ids {
			ranks[at[id]] = n + 1
		}
	}
	for i, s := range p.Steps {
		for _, d := range s.DependsOn {
			lg.Edges = append(lg.Edges, layout.Edge{From: at[d], To: i})
		}
	}
	d, err := layout.Draw(context.Background(), lg, layout.Options{Rank: ranks})
	if err != nil {
		panic(err) // the plans are canned
	}
	return d, ranks
}

func edges(p plan.Plan, d layout.Drawing, states map[string]stepState) []templates.EdgeProps {
	var all []templates.EdgeProps
	for _, s := range p.Steps {
		for _, dep := range s.DependsOn {
			from, to := states[dep].status, states[s.ID].status
			all = append(all, templates.EdgeProps{
				N: len(all), From: dep, To: s.ID, D: d.Paths[len(all)].SVG(),
				Lit:    from == plan.StepStatusSucceeded && to != "" && to != plan.StepStatusPending && to != plan.StepStatusSkipped,
				Broken: from.Broken() || from == plan.StepStatusSkipped,
			})
		}
	}
	return all
}

func bands(d layout.Drawing, _ []int) []templates.BandProps {
	var all []templates.BandProps
	for _, l := range d.Layers {
		all = append(all, templates.BandProps{Wave: l.Rank, Y: l.Y, H: l.H})
	}
	return all
}

// large is a plan of 40 steps in eight waves.
func large() plan.Plan {
	var p plan.Plan
	for i := range 40 {
		s := plan.Step{ID: "step-" + strconv.Itoa(i+1), Instruction: "Read source " + strconv.Itoa(i+1) + " and note what it says about the subject, with the page."}
		for _, back := range []int{5, 7} {
			if from := i - back; from >= 0 && (i+back)%3 != 0 {
				s.DependsOn = append(s.DependsOn, p.Steps[from].ID)
			}
		}
		if i%4 == 1 {
			s.Tool = "fetch_url"
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// stylesheets are those of the canned graphs, by file name.
func stylesheets() map[string]string {
	all := map[string]string{}
	for key, p := range map[string]plan.Plan{"cities": cities(), "replanned": replanned(), "statuses": statuses(), "large": large(), "hostile": hostile(), "edited": edited(), "versions": plan.Union(cities(), edited())} {
		all[key+".css"] = templates.GraphCSS(graph(key, p, nil, ""))
	}
	return all
}

// statuses is a plan with a step for each status.
func statuses() plan.Plan {
	var p plan.Plan
	for i, s := range append(plan.StepStatuses(), "kept") {
		step := plan.Step{ID: string(s), Instruction: "A step that is shown as " + string(s) + ", with an instruction long enough for two lines."}
		if i >= 3 {
			step.DependsOn = []string{string(plan.StepStatuses()[i%3])}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}
