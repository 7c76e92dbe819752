package handlers

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// childOf names the run and the step that a child run carries out.
type childOf struct {
	Run  string `json:"run"`
	Step string `json:"step"`
}

// runDoc is a run as the API writes it: the state after event Seq.
type runDoc struct {
	ID               string               `json:"id"`
	Question         string               `json:"question"`
	Status           plan.RunStatus       `json:"status"`
	Strategy         plan.Strategy        `json:"strategy"`
	Schedule         plan.Schedule        `json:"schedule"`
	Approval         plan.Approval        `json:"approval"`
	CreatedAt        stamp                `json:"created_at"`
	StartedAt        stamp                `json:"started_at"`
	FinishedAt       stamp                `json:"finished_at"`
	ForkedFrom       *string              `json:"forked_from"`
	ChildOf          *childOf             `json:"child_of"`
	Recorded         bool                 `json:"recorded"`
	Plan             *planDoc             `json:"plan"`
	Steps            map[string]stepState `json:"steps"`
	Waves            [][]string           `json:"waves"`
	Failed           []string             `json:"failed"`
	Skipped          []string             `json:"skipped"`
	Corrections      int                  `json:"corrections"`
	Replans          int                  `json:"replans"`
	Answer           *answerDoc           `json:"answer"`
	Usage            plan.Usage           `json:"usage"`
	Budget           plan.Budget          `json:"budget"`
	PendingApprovals []pendingApproval    `json:"pending_approvals"`
	Error            *plan.Fault          `json:"error"`
	Estimate         *estimateDoc         `json:"estimate"`
	Seq              int64                `json:"seq"`
}

// pendingApproval is a tool call that waits for a person.
type pendingApproval struct {
	ID        string          `json:"id"`
	Step      string          `json:"step"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// estimateDoc is what is left of a plan that waits for approval will take.
type estimateDoc struct {
	Requests     int       `json:"requests"`
	Tokens       int       `json:"tokens"`
	CostUSD      *plan.USD `json:"cost_usd"`
	CriticalPath []string  `json:"critical_path"`
}

// planDoc is the newest version of a run's plan.
type planDoc struct {
	Version     int       `json:"version"`
	Hash        string    `json:"hash"`
	Approved    bool      `json:"approved"`
	Deliverable *string   `json:"deliverable"`
	Steps       []stepDoc `json:"steps"`
}

// stepDoc is a step of a plan, with every field it can have.
type stepDoc struct {
	ID          string          `json:"id"`
	Instruction string          `json:"instruction"`
	Tool        *string         `json:"tool"`
	Input       json.RawMessage `json:"input"`
	DependsOn   []string        `json:"depends_on"`
	Contract    *contractDoc    `json:"contract"`
	Strategy    *plan.Strategy  `json:"strategy"`
}

type contractDoc struct {
	Required []string `json:"required"`
	Checks   []string `json:"checks"`
}

// stepState is how far a step is.
type stepState struct {
	Status     plan.StepStatus `json:"status"`
	Wave       *int            `json:"wave"`
	Attempts   int             `json:"attempts"`
	Result     *string         `json:"result"`
	Data       json.RawMessage `json:"data"`
	Error      *plan.Fault     `json:"error"`
	Cause      *string         `json:"cause"`
	StartedAt  stamp           `json:"started_at"`
	FinishedAt stamp           `json:"finished_at"`
	Usage      plan.Usage      `json:"usage"`
}

type answerDoc struct {
	Result  string       `json:"result"`
	Subject *string      `json:"subject"`
	Value   *json.Number `json:"value"`
	RestsOn []string     `json:"rests_on"`
}

// answerRun answers with the run that a call made or changed, or with why it
// did not.
func (s *server) answerRun(c echo.Context, status int, r *plan.Run, err error) error {
	if err != nil {
		return inPlan(err)
	}
	d := newRunDoc(r)
	if r.Status == plan.RunStatusAwaitingApproval {
		e, err := s.Runs.Estimate(c.Request().Context(), r)
		if err != nil {
			return err
		}
		d.Estimate = &estimateDoc{Requests: e.Requests, Tokens: e.Tokens, CostUSD: e.CostUSD, CriticalPath: orEmpty(e.CriticalPath)}
	}
	if status == http.StatusCreated {
		c.Response().Header().Set(echo.HeaderLocation, "/api/v1/runs/"+r.ID)
	}
	return writeJSON(c, status, d)
}

func newRunDoc(r *plan.Run) runDoc {
	d := runDoc{
		ID: r.ID, Question: r.Question, Status: r.Status,
		Strategy: r.Options.Strategy, Schedule: r.Options.Schedule, Approval: r.Options.Approval,
		CreatedAt: stamp(r.CreatedAt), StartedAt: stamp(r.StartedAt), FinishedAt: stamp(r.FinishedAt), ForkedFrom: orNull(r.ForkedFrom), Recorded: r.Recorded,
		Plan: newPlanDoc(r), Steps: make(map[string]stepState, len(r.Steps)),
		Waves: make([][]string, len(r.Waves)), Failed: r.Failed(), Skipped: r.Skipped(),
		Corrections: r.Corrections(), Replans: r.Replans, Answer: newAnswerDoc(r.Answer), Usage: known(r.Usage), Budget: r.Options.Budget,
		PendingApprovals: []pendingApproval{}, Error: r.Error, Seq: r.Seq,
	}
	for _, p := range r.PendingApprovals() {
		d.PendingApprovals = append(d.PendingApprovals, pendingApproval{ID: p.ID, Step: p.Step, Tool: p.Tool, Arguments: rawOrNull(p.Arguments)})
	}
	for i, wave := range r.Waves {
		d.Waves[i] = orEmpty(wave)
	}
	for _, st := range r.Steps {
		d.Steps[st.ID] = newStepState(st)
	}
	return d
}

func newPlanDoc(r *plan.Run) *planDoc {
	v, ok := r.Version()
	if !ok {
		return nil
	}
	return &planDoc{
		Version: v.Number, Hash: v.Hash, Approved: r.Approved == v.Number,
		Deliverable: orNull(r.Deliverable()), Steps: newStepDocs(v.Plan),
	}
}

func newStepDocs(p plan.Plan) []stepDoc {
	steps := make([]stepDoc, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = stepDoc{
			ID: s.ID, Instruction: s.Instruction, Tool: orNull(s.Tool), Input: rawOrNull(s.Input),
			DependsOn: orEmpty(s.DependsOn), Strategy: orNull(s.Strategy),
		}
		if s.Contract != nil {
			steps[i].Contract = &contractDoc{Required: orEmpty(s.Contract.Required), Checks: orEmpty(s.Contract.Checks)}
		}
	}
	return steps
}

func newStepState(s plan.StepState) stepState {
	d := stepState{
		Status: s.Status, Attempts: s.Attempts, Data: rawOrNull(s.Result.Data), Error: s.Error, Cause: orNull(s.Cause),
		StartedAt: stamp(s.StartedAt), FinishedAt: stamp(s.FinishedAt), Usage: known(s.Usage),
	}
	if s.Wave > 0 {
		d.Wave = &s.Wave
	}
	if s.Status == plan.StepStatusSucceeded || s.Status == plan.StepStatusInvalid {
		d.Result = &s.Result.Text
	}
	return d
}

func newAnswerDoc(a *plan.Answer) *answerDoc {
	if a == nil {
		return nil
	}
	return &answerDoc{Result: a.Result, Subject: orNull(a.Subject), Value: oneDecimal(a.Value), RestsOn: orEmpty(a.RestsOn)}
}

// oneDecimal is a number written with one decimal place.
func oneDecimal(v *float64) *json.Number {
	if v == nil {
		return nil
	}
	n := json.Number(strconv.FormatFloat(*v, 'f', 1, 64))
	return &n
}

// known is a usage that says 0 dollars where no call was made. Null is left to
// calls of an unknown price.
func known(u plan.Usage) plan.Usage {
	if u.Requests == 0 && u.CostUSD == nil {
		u.CostUSD = new(plan.USD)
	}
	return u
}

// rawOrNull keeps JSON as it is, and is null where there is none.
func rawOrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
