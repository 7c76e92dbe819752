package main

import (
	"strconv"
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// step is the panel of one step in some status.
func step(id string, s plan.StepStatus) *templates.StepDetail {
	d := &templates.StepDetail{
		ID: id, Instruction: "Compare the three densities, and name the city with the highest one and its density, rounded to one decimal place.",
		Status: s, Wave: 2, Started: ago(1100 * time.Millisecond), Ended: now(), Now: now(), Tokens: 498, Cost: "$0.0004", Final: id == "s4",
		Calls:    []templates.CallProps{calls()[3]},
		Contract: &templates.ContractProps{Required: []string{"city", "density"}, Checks: []string{"density > 0"}},
		ToolCalls: []templates.ToolCallProps{
			{Tool: "calculate", Arguments: `{"expression": "156000 / 130"}`, Result: "1200", Took: 2 * time.Millisecond},
		},
	}
	for _, g := range []struct{ id, text string }{
		{"s1", "Brindlemoor: 84,000 people on 120.0 km², 700.0 per km²."}, {"s2", "Quillhaven: 156,000 people on 130.0 km², 1,200.0 per km²."}, {"s3", ""},
	} {
		d.Given = append(d.Given, templates.GivenProps{Step: link(g.id), Text: g.text})
	}
	switch s {
	case plan.StepStatusSucceeded:
		d.Result, d.Data = "Quillhaven has the highest density, 1,200.0 people per km².", "{\n  \"result\": \"Quillhaven has the highest density, 1,200.0 people per km².\",\n  \"city\": \"Quillhaven\",\n  \"density\": 1200\n}"
		d.Contract.Checked = true
	case plan.StepStatusRunning:
		d.Ended, d.Given = time.Time{}, nil
		d.Calls[0].InFlight = true
	case plan.StepStatusFailed:
		d.Given, d.ToolCalls = nil, []templates.ToolCallProps{{Tool: "get_city", Arguments: `{"name": "Atlantis"}`, Error: "There is no city Atlantis. There are: Ashwick, Brindlemoor, Quillhaven, Tarnby.", Took: time.Millisecond}}
		d.Error = &templates.StepError{Code: "model_unreachable", Message: "The model could not be reached: connection refused at 127.0.0.1:11434.", Todo: "Check that the model server runs, then ask again."}
		d.Attempts = []templates.AttemptProps{{Number: 1, Status: plan.StepStatusFailed, Took: 3 * time.Second, Error: "connection refused"}}
	case plan.StepStatusInvalid:
		d.Result = "Probably Quillhaven."
		d.Contract.Broken = []string{`The key "density" is missing.`, `Check 1, "density > 0", cannot be evaluated: density is not there.`}
		d.Error = &templates.StepError{Code: "contract_broken", Message: "What came back breaks the step's contract, twice.", Todo: "Edit the instruction or the contract and ask again."}
	case plan.StepStatusSkipped:
		cause := link("s2")
		d.Cause = &cause
	default:
	}
	return d
}

// calls are those of the sample run.
func calls() []templates.CallProps {
	agents := []struct{ agent, step string }{{"planner", ""}, {"planner", ""}, {"executor", "s1"}, {"executor", "s2"}, {"executor", "s4"}, {"synthesizer", ""}}
	var all []templates.CallProps
	for i, a := range agents {
		all = append(all, templates.CallProps{
			ID: strconv.Itoa(i + 1), Agent: a.agent, Step: a.step, Attempt: 1, Model: "gemini:gemini-3.1-flash-lite", Since: ago(time.Duration(30-i) * time.Second), Now: now(),
			Took: time.Duration(900+137*i) * time.Millisecond, Input: 410 + 60*i, Output: 96 + 21*i, Cost: "$0.0003",
			Messages: []templates.MessageProps{
				{Role: "system", Text: "You plan. You never answer, and you never call a tool.\n\nA step runs as soon as the steps it depends on have succeeded…"},
				{Role: "user", Text: "<question>\n" + question + "\n</question>"},
			},
			OutputText: "{\"steps\": [\n  {\"id\": \"s1\", \"instruction\": \"Look up the population and the area of Brindlemoor.\", \"depends_on\": []}\n]}",
		})
	}
	all[1].Attempt, all[1].Reason = 2, "the first plan broke a rule"
	all[2].ToolCalls = []templates.ToolCallProps{{Tool: "get_city", Arguments: `{"name": "Brindlemoor"}`, Result: `{"name": "Brindlemoor", "population": 84000, "area_km2": 120.0, "founded": 1721}`, Took: 300 * time.Microsecond}}
	all[3].DetailURL = runURL + "/calls/4"
	return all
}

func trace(n int) templates.TraceProps { return templates.TraceProps{Calls: calls()[:n]} }

// waves is the timeline of the sample run, whole or in its first wave.
func waves(whole bool) templates.WavesProps {
	bar := func(id string, from, length int, s plan.StepStatus, took time.Duration) templates.BarProps {
		return templates.BarProps{Step: link(id), Status: s, Offset: from, Length: length, Took: took}
	}
	ok := plan.StepStatusSucceeded
	w := templates.WavesProps{Total: 3500 * time.Millisecond, Waves: []templates.WaveProps{
		{Number: 1, Took: 2400 * time.Millisecond, Bars: []templates.BarProps{
			bar("s1", 0, 543, ok, 1900*time.Millisecond), bar("s2", 0, 686, ok, 2400*time.Millisecond), bar("s3", 0, 4, ok, 12*time.Millisecond),
		}},
		{Number: 2, Took: 1100 * time.Millisecond, Bars: []templates.BarProps{bar("s4", 686, 314, ok, 1100*time.Millisecond)}},
	}}
	if !whole {
		w.Waves = w.Waves[:1]
		w.Waves[0].Open, w.Waves[0].Bars[1].Status = true, plan.StepStatusRunning
	}
	return w
}
