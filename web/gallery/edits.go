package main

import (
	"slices"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// editor is a draft of the sample plan in the editor.
func editor(p plan.Plan) *templates.EditorProps {
	e := &templates.EditorProps{
		SaveURL: runURL + "/plan", DraftURL: runURL + "/draft", DiscardURL: runURL, Version: 1, Focus: -1,
		Tools: []templates.ToolChoice{{Name: "get_city", Description: "Facts of a sample city"}, {Name: "calculate", Description: "Exact arithmetic"}},
	}
	for _, s := range p.Steps {
		step := templates.EditorStep{ID: s.ID, Instruction: s.Instruction, Tool: s.Tool, Input: string(s.Input)}
		for _, other := range p.Steps {
			if other.ID != s.ID {
				step.Deps = append(step.Deps, templates.DepChoice{ID: other.ID, On: slices.Contains(s.DependsOn, other.ID)})
			}
		}
		e.Steps = append(e.Steps, step)
	}
	e.Graph = draft(p)
	return e
}

// draft draws a plan that is being edited.
func draft(p plan.Plan) templates.GraphProps {
	d, w := draw(p, templates.SmallNodeHeight)
	g := templates.GraphProps{W: d.W, H: d.H, Draft: true, Key: "draft", Edges: edges(p, d, nil), Bands: bands(d, w)}
	for i, s := range p.Steps {
		g.Nodes = append(g.Nodes, templates.NodeProps{
			ID: s.ID, Instruction: s.Instruction, Tool: s.Tool, Draft: true, URL: "#step-" + s.ID,
			X: d.Nodes[i].X, Y: d.Nodes[i].Y, W: d.Nodes[i].W, H: d.Nodes[i].H,
		})
	}
	return g
}

func runEdit(p templates.PageProps) templates.RunPageProps {
	r := runWaiting(p)
	r.Editor = editor(cities())
	return r
}

func runEditInvalid(p templates.PageProps) templates.RunPageProps {
	bad := cities()
	bad.Steps[3].DependsOn = nil
	r := runWaiting(p)
	r.Editor = editor(bad)
	e := r.Editor
	e.Changed, e.Blocked = true, "The plan breaks two rules: s4 and s1."
	e.Steps[3].Violations = []templates.ViolationProps{{Code: "no_single_final_step", Message: "s1, s2, s3 and s4 are loose ends: nothing depends on them. Make s4 final by letting it depend on s1, s2 and s3.", Mend: "Make s4 the final step", Index: 0}}
	e.Steps[0].Violations = []templates.ViolationProps{
		{Code: "empty_instruction", Message: "s1 has no instruction: say what is to be done."},
		{Code: "duplicate_dependency", Message: "s1 names s2 twice; once is enough.", Warning: true},
	}
	e.Steps[0].Instruction, e.Steps[0].Tool = "", "get_town"
	e.Steps[0].Deps = append(e.Steps[0].Deps, templates.DepChoice{ID: "s9", On: true, Unknown: true})
	e.Graph.Nodes[0].Invalid, e.Graph.Nodes[3].Invalid = true, true
	return r
}

func runEditCycle(p templates.PageProps) templates.RunPageProps {
	r := runWaiting(p)
	r.Editor = editor(cities())
	e := r.Editor
	e.Changed, e.Blocked = true, "s1 and s4 wait on each other."
	e.Global = []templates.ViolationProps{{Code: "cycle", Message: "s1 and s4 wait on each other: s1 → s4 → s1. Remove one of these dependencies."}}
	e.Steps[0].Deps[2].On = true
	e.Graph = templates.GraphProps{Draft: true, Problem: "The plan can be drawn again when no steps wait on each other."}
	return r
}
