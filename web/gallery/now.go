package main

import (
	"time"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// runRateLimited is a run whose model asked it to wait.
func runRateLimited(p templates.PageProps) templates.RunPageProps {
	r := runRunning(p)
	r.Now = nowWaiting()
	r.Panel.Step.Writing = templates.WritingProps{
		ID: "writing-s2", Title: "The model is writing", Text: "Quillhaven has 156,000 people on 130.0 km², so its density is",
	}
	return r
}

// runToolAtWork is a run one of whose tools says how far it has got.
func runToolAtWork(p templates.PageProps) templates.RunPageProps {
	r := runRunning(p)
	r.Panel.Step.Writing = templates.WritingProps{ID: "writing-s2", Title: "files__index is at work", Text: "Reading archive-2024.zip", Done: 340, Total: 1200}
	return r
}

func nowWaiting() templates.NowProps {
	return templates.NowProps{Waits: []templates.WaitProps{
		{
			Title:  "s1, s2 and s3 wait for gemini:gemini-3.1-flash-lite",
			Reason: "The model server has had too many requests or the quota is used up (HTTP 429). It asks to wait 38 s.",
			Try:    2, Of: 5, Until: now().Add(38 * time.Second), Now: now(),
		},
		{
			Title:  "s4 waits for openai:qwen3",
			Reason: "No more than 60 requests a minute go to this provider (PLANWAVE_REQUESTS_PER_MINUTE).",
			Until:  now().Add(2500 * time.Millisecond), Now: now(),
		},
	}}
}

// runPlanWritten is a run whose plan is being written.
func runPlanWritten(p templates.PageProps) templates.RunPageProps {
	r := runPlanning(p)
	r.Now.Writing = []templates.WritingProps{{
		ID: "writing", Title: "The " + string(plan.RolePlanner) + " is writing", Cut: true,
		Text: `","depends_on":[]},{"id":"s3","instruction":"Find the population and area of Tarnby.","depends_on":[]},{"id":"s4","instr`,
	}}
	return r
}
