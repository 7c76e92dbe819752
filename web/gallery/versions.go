package main

import (
	"strings"
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// edited is the sample plan planned again, and then changed by a person.
func edited() plan.Plan {
	p := replanned()
	p.Steps[0].DependsOn = []string{"s5"}
	p.Steps[2].Input = []byte(`"Ashwick"`)
	p.Steps[3].Instruction = "Compare the densities of all four, and name the city with the highest one and its density, rounded to two decimal places."
	return p
}

// between draws two plans in one picture.
func between(key string, was, now plan.Plan) templates.GraphProps {
	change := map[string]string{}
	for _, c := range plan.Diff(was, now) {
		change[c.Step] = string(c.Change)
	}
	needs := func(p plan.Plan, e templates.EdgeProps) bool {
		s, _ := p.Step(e.To)
		return strings.Contains(" "+strings.Join(s.DependsOn, " ")+" ", " "+e.From+" ")
	}
	g := graph(key, plan.Union(was, now), nil, "")
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Diff, n.Change, n.URL, n.PanelURL, n.Final = true, change[n.ID], "#step-"+n.ID, "", false
	}
	for i := range g.Edges {
		switch e := &g.Edges[i]; {
		case !needs(was, *e):
			e.Change = "added"
		case !needs(now, *e):
			e.Change = "removed"
		}
	}
	return g
}

func versions(p templates.PageProps) templates.VersionsPageProps {
	p.Styles, p.Wide, p.Nav = []string{"css/versions.css"}, true, "history"
	was, now := cities(), edited()
	at := runURL + "/versions/"
	return templates.VersionsPageProps{
		Page: p, Question: question, RunURL: runURL, URL: at + "3", Number: 3, Against: 1, SwapURL: at + "1?against=3",
		Versions: []templates.VersionRow{
			{Number: 3, URL: at + "3", Author: "you", Reason: "edited", At: ago(time.Minute), Approved: true},
			{Number: 2, URL: at + "2", Author: "the planner", Reason: "replan 1: step s2 failed", At: ago(3 * time.Minute)},
			{Number: 1, URL: at + "1", Author: "the planner", Reason: "first plan", At: ago(9 * time.Minute)},
		},
		Counts: []templates.ChangeCount{{Change: "added", N: 1}, {Change: "changed", N: 3}, {Change: "removed", N: 1}},
		Lines:  []templates.DifferenceLine{{Text: "The answer rests on s4 now, not on the final step."}},
		Steps: []templates.StepDifference{
			{ID: "s1", Change: "changed", Lines: []templates.DifferenceLine{{Text: "s1 now needs s5."}}},
			{ID: "s5", Change: "added", Lines: []templates.DifferenceLine{
				{Marks: []plan.Span{{Text: now.Steps[1].Instruction, Change: plan.ChangeKept}}},
				{Text: "It needs nothing, and is carried out by the tool get_city."},
				{Text: "Input:", Marks: []plan.Span{{Text: "Quillhaven", Change: plan.ChangeKept}}, Code: true},
			}},
			{ID: "s3", Change: "changed", Lines: []templates.DifferenceLine{{Text: "Input:", Marks: plan.Words("Tarnby", "Ashwick"), Code: true}}},
			{ID: "s4", Change: "changed", Lines: []templates.DifferenceLine{
				{Text: "s4 now needs s5."},
				{Text: "s4 no longer needs s2."},
				{Text: "Instruction:", Marks: plan.Words(was.Steps[3].Instruction, now.Steps[3].Instruction)},
			}},
			{ID: "s2", Change: "removed", Lines: []templates.DifferenceLine{
				{Marks: []plan.Span{{Text: was.Steps[1].Instruction, Change: plan.ChangeKept}}},
				{Text: "It needed nothing, and was carried out by an agent."},
			}},
		},
		Graph: between("versions", was, now),
	}
}

func versionsFirst(p templates.PageProps) templates.VersionsPageProps {
	v := versions(p)
	v.Number, v.Against, v.SwapURL, v.Versions = 1, 0, "", v.Versions[2:]
	v.Counts, v.Lines = []templates.ChangeCount{{Change: "added", N: 4}}, []templates.DifferenceLine{{Text: "This is the first plan: there is nothing before it."}}
	v.Graph, v.Steps = between("cities", plan.Plan{}, cities()), nil
	for _, s := range cities().Steps {
		v.Steps = append(v.Steps, templates.StepDifference{ID: s.ID, Change: "added", Lines: []templates.DifferenceLine{
			{Marks: []plan.Span{{Text: s.Instruction, Change: plan.ChangeKept}}},
			{Text: "It needs " + orNothing(s.DependsOn) + ", and is carried out by an agent."},
		}})
	}
	return v
}

func orNothing(ids []string) string {
	if len(ids) == 0 {
		return "nothing"
	}
	return templates.List(ids)
}

func versionsSame(p templates.PageProps) templates.VersionsPageProps {
	v := versions(p)
	v.Against, v.SwapURL, v.Counts, v.Lines, v.Steps, v.Kept = 3, "", []templates.ChangeCount{{Change: "kept", N: 4}}, nil, nil, edited().IDs()
	v.Graph = between("edited", edited(), edited())
	return v
}

func versionsHostile(p templates.PageProps) templates.VersionsPageProps {
	v := versions(p)
	texts := hostileTexts()
	v.Question, v.RunURL, v.URL, v.SwapURL = texts[0], texts[5], texts[5], texts[5]
	for i := range v.Versions {
		v.Versions[i].Author, v.Versions[i].Reason, v.Versions[i].URL = texts[i], texts[i], texts[5]
	}
	v.Kept, v.Steps, v.Graph = nil, nil, between("hostile", plan.Plan{}, hostile())
	for i, t := range texts {
		v.Lines = append(v.Lines, templates.DifferenceLine{Text: t, Marks: plan.Words(t, texts[0]), Code: i%2 == 0})
		v.Steps = append(v.Steps, templates.StepDifference{ID: t, Change: t, Lines: v.Lines})
	}
	return v
}
