package db

import (
	"encoding/json"
	"slices"
	"strings"

	"planwave/internal/plan"
)

// The most characters of texts that lists show.
const (
	mostListedQuestion = 300
	mostListedAnswer   = 300
)

// project writes what pages query, all of it worked out from the state after
// the events, and returns the run's number.
func (s *session) project(b Batch) (int64, error) {
	before := b.Run.Seq - int64(len(b.Events))
	if before == 0 {
		if err := s.createRun(b.Run); err != nil {
			return 0, err
		}
	}
	run, err := s.updateRun(b.Run, before)
	if err != nil {
		return 0, err
	}
	return run, s.saveVersions(run, b.Events)
}

// createRun makes the row of a new run, with what never changes.
func (s *session) createRun(r *plan.Run) error {
	models, err := json.Marshal(modelsOf(r.Options))
	if err != nil {
		return err
	}
	_, err = s.exec(`
		INSERT INTO runs (
			id, question, strategy, owner, models, created_at,
			recorded, seq, status, updated_at, version, corrections, steps, succeeded,
			requests, input_tokens, output_tokens, cached_tokens, thinking_tokens, total_tokens
		) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, '', ?6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
		r.ID, plan.Short(r.Question, mostListedQuestion), string(r.Options.Strategy), r.By, string(models), r.CreatedAt.UnixMilli(), r.Recorded)
	if taken(err) {
		return ErrConflict
	}
	return err
}

// updateRun brings the run's row to the state r, if it is at event before.
func (s *session) updateRun(r *plan.Run, before int64) (int64, error) {
	run, seq, err := s.at(r.ID)
	if err != nil {
		return 0, err
	}
	if seq != before {
		return 0, ErrConflict
	}
	answer, subject, value := listedAnswer(r.Answer)
	var code any
	if r.Error != nil {
		code = string(r.Error.Code)
	}
	number := 0
	if v, ok := r.Version(); ok {
		number = v.Number
	}
	u := r.Usage
	_, err = s.exec(`
		UPDATE runs SET
			seq = ?2, status = ?3, started_at = ?4, finished_at = ?5, updated_at = ?6,
			version = ?7, corrections = ?8, steps = ?9, succeeded = ?10,
			requests = ?11, input_tokens = ?12, output_tokens = ?13, cached_tokens = ?14,
			thinking_tokens = ?15, total_tokens = ?16, cost = ?17,
			answer = ?18, subject = ?19, value = ?20, error_code = ?21
		WHERE n = ?1`,
		run, r.Seq, string(r.Status), millis(r.StartedAt), millis(r.FinishedAt), r.UpdatedAt.UnixMilli(),
		number, r.Corrections(), len(r.Steps), len(r.WithStatus(plan.StepStatusSucceeded)),
		u.Requests, u.InputTokens, u.OutputTokens, u.CachedTokens, u.ThinkingTokens, u.TotalTokens, cost(u.CostUSD),
		answer, subject, value, code)
	return run, err
}

// saveVersions keeps which events carry plans.
func (s *session) saveVersions(run int64, events []plan.Event) error {
	for _, e := range events {
		v, ok := versionIn(e.Data)
		if !ok {
			continue
		}
		_, err := s.exec(`
			INSERT INTO versions (run, number, seq, hash, author)
			VALUES (?1, ?2, ?3, ?4, ?5)`,
			run, v.Number, e.Seq, v.Hash, v.Author)
		if err != nil {
			return err
		}
	}
	return nil
}

// versionIn returns the plan that an event carries.
func versionIn(p plan.Payload) (plan.Version, bool) {
	switch p := p.(type) {
	case plan.PlanProposed:
		return p.Version, true
	case plan.PlanEdited:
		return p.Version, true
	}
	return plan.Version{}, false
}

// cost is an amount as it is kept; an unknown one is NULL.
func cost(c *plan.USD) any {
	if c == nil {
		return nil
	}
	return int64(*c)
}

// modelsOf lists the models bound to the roles that the strategy has, each once.
func modelsOf(o plan.Options) []string {
	names := []string{}
	for _, role := range rolesOf(o.Strategy) {
		if m := o.Models[role]; m != "" && !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	return names
}

// rolesOf lists the roles that take part in a strategy.
func rolesOf(s plan.Strategy) []plan.Role {
	switch s {
	case plan.StrategyReact:
		return []plan.Role{plan.RoleExecutor}
	case plan.StrategyTree:
		return []plan.Role{plan.RoleProposer, plan.RoleJudge, plan.RoleSynthesizer}
	case plan.StrategyPlan, plan.StrategyRounds:
	}
	return []plan.Role{plan.RolePlanner, plan.RoleExecutor, plan.RoleSynthesizer}
}

// listedAnswer is an answer as lists show it: its first line that says
// something, subject and value.
func listedAnswer(a *plan.Answer) (line, subject, value any) {
	if a == nil {
		return nil, nil, nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(a.Result), "\n")
	if a.Value != nil {
		value = *a.Value
	}
	return plan.Short(strings.TrimSpace(first), mostListedAnswer), orNull(a.Subject), value
}
