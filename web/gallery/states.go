package main

import (
	"github.com/a-h/templ"

	"planwave/web/templates"
)

// state is one page of the gallery.
type state struct {
	name      string
	component templ.Component
}

// states are all pages in the system's colours.
func states() []state { return themed("system") }

// themed are all pages of the gallery.
func themed(theme string) []state {
	p := page(theme)
	all := []state{
		{"home", templates.Home(home(p))},
		{"home-demo", templates.Home(homeDemo(p))},
		{"home-problem", templates.Home(homeProblem(p))},
		{"home-options", templates.Home(homeOptions(p))},
		{"history", templates.History(history(p))},
		{"history-none", templates.History(historyNone(p, false))},
		{"history-no-match", templates.History(historyNone(p, true))},
		{"settings", templates.Settings(settings(p))},
		{"settings-people", templates.Settings(settingsPeople(p))},
		{"log-in", templates.LogIn(logIn(p, ""))},
		{"log-in-problem", templates.LogIn(logIn(p, "The name or the password is wrong."))},
		{"join", templates.Join(join(p, "Olga"))},
		{"join-first", templates.Join(join(p, ""))},
		{"error-404", templates.ErrorPage(errorPage(p, 404))},
		{"error-409", templates.ErrorPage(errorPage(p, 409))},
		{"error-422", templates.ErrorPage(errorPage(p, 422))},
		{"error-500", templates.ErrorPage(errorPage(p, 500))},
		{"run-planning", templates.Run(runPlanning(p))},
		{"run-plan-written", templates.Run(runPlanWritten(p))},
		{"run-waiting", templates.Run(runWaiting(p))},
		{"run-running", templates.Run(runRunning(p))},
		{"run-rate-limited", templates.Run(runRateLimited(p))},
		{"run-tool-at-work", templates.Run(runToolAtWork(p))},
		{"run-writing", templates.Run(runWriting(p))},
		{"run-succeeded", templates.Run(runSucceeded(p))},
		{"run-partial", templates.Run(runPartial(p))},
		{"run-failed", templates.Run(runFailed(p))},
		{"run-invalid-plan", templates.Run(runInvalidPlan(p))},
		{"run-cancelled", templates.Run(runCancelled(p))},
		{"run-statuses", templates.Run(runStatuses(p))},
		{"run-over-budget", templates.Run(runOverBudget(p))},
		{"run-budget-problem", templates.Run(runBudgetProblem(p))},
		{"run-two-failed", templates.Run(runTwoFailed(p))},
		{"run-tool-approval", templates.Run(runToolApproval(p))},
		{"run-planning-again", templates.Run(runPlanningAgain(p))},
		{"run-replanned", templates.Run(runReplanned(p))},
		{"run-forked", templates.Run(runForked(p))},
		{"run-stands", templates.Run(runStands(p))},
		{"run-finalized", templates.Run(runFinalized(p))},
		{"run-large", templates.Run(runLarge(p))},
		{"run-stacked", templates.Run(stacked(p))},
		{"run-timeline", templates.Run(runTimeline(p))},
		{"run-replay", templates.Run(runReplay(p))},
		{"versions", templates.Versions(versions(p))},
		{"versions-first", templates.Versions(versionsFirst(p))},
		{"versions-same", templates.Versions(versionsSame(p))},
		{"versions-hostile", templates.Versions(versionsHostile(p))},
		{"run-shared", templates.Run(runShared(p))},
		{"compare", templates.Compare(compared(p))},
		{"run-hostile", templates.Run(runHostile(p))},
		{"edit", templates.Run(runEdit(p))},
		{"edit-invalid", templates.Run(runEditInvalid(p))},
		{"edit-cycle", templates.Run(runEditCycle(p))},
		{"edit-hostile", templates.Run(runEditHostile(p))},
	}
	return all
}
