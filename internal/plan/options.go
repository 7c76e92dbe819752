package plan

// Options are how a run is to be carried out, fixed when it is created.
type Options struct {
	Strategy    Strategy     `json:"strategy"`
	Approval    Approval     `json:"approval"`
	Schedule    Schedule     `json:"schedule"`
	MaxSteps    int          `json:"max_steps"`
	MaxParallel int          `json:"max_parallel"`
	Replan      ReplanPolicy `json:"replan"`
	Budget      Budget       `json:"budget"`
	// Models binds each role to a model, provider:model.
	Models map[Role]string `json:"models"`
	// Tools are the names of the tools that executors have.
	Tools []string `json:"tools"`
	// Instructions are extra guidance for the planner and the synthesizer.
	Instructions string `json:"instructions,omitempty"`
	Webhook      string `json:"webhook,omitempty"`
}

// ReplanPolicy says when the planner is asked again while a run goes on.
type ReplanPolicy struct {
	// When is never, on_failure or every_round.
	When string `json:"when"`
	Max  int    `json:"max"`
	// Approval is same (as the run's) or auto.
	Approval string `json:"approval"`
}

// The times of replanning.
const (
	ReplanNever      = "never"
	ReplanOnFailure  = "on_failure"
	ReplanEveryRound = "every_round"
	// ReplanSame has a person approve a replanned plan where they approved the
	// first; ReplanAuto lets it run.
	ReplanSame = "same"
	ReplanAuto = "auto"
	// DefaultMaxReplans is how often a run replans at most, unless it says so,
	// and MostReplans is the most it can say.
	DefaultMaxReplans = 3
	MostReplans       = 20
	// MaxRounds is how many rounds a run in rounds has at most.
	MaxRounds = 3
)

// DefaultOptions returns the options of a run that names none.
func DefaultOptions() Options {
	return Options{
		Strategy: StrategyPlan, Approval: ApprovalManual, Schedule: ScheduleWaves,
		MaxSteps: DefaultMaxSteps, MaxParallel: DefaultMaxParallel,
		Replan: ReplanPolicy{When: ReplanNever, Max: DefaultMaxReplans, Approval: ReplanSame},
		Budget: DefaultBudget(),
	}
}
