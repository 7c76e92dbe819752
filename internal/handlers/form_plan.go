package handlers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/plan"
)

// draft is a plan as the editor's form holds it: it may break any rule.
type draft struct {
	Base int // the version that it was made from
	Plan plan.Plan
}

// mostFormSteps bounds the step numbers a form may name.
const mostFormSteps = plan.MostSteps

// readDraft reads the editor's form. The fields of step N are steps.N.id,
// .instruction, .depends_on (repeated), .tool, .input, .contract and
// .strategy; steps come in the order of their numbers.
func readDraft(form url.Values) (draft, error) {
	base, err := strconv.Atoi(form.Get("version"))
	if err != nil {
		return draft{}, badForm("version", "The form does not say which version it was made from. Reload the page.")
	}
	numbers, err := stepNumbers(form)
	if err != nil {
		return draft{}, err
	}
	d := draft{Base: base, Plan: plan.Plan{Deliverable: form.Get("deliverable"), Steps: make([]plan.Step, 0, len(numbers))}}
	for _, n := range numbers {
		s, err := readStep(form, "steps."+strconv.Itoa(n)+".")
		if err != nil {
			return draft{}, err
		}
		d.Plan.Steps = append(d.Plan.Steps, s)
	}
	return d, nil
}

func stepNumbers(form url.Values) ([]int, error) {
	var numbers []int
	for key := range form {
		rest, ok := strings.CutPrefix(key, "steps.")
		if !ok {
			continue
		}
		at, field, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(at)
		if err != nil || n < 0 || n >= mostFormSteps {
			return nil, badForm(key, fmt.Sprintf("The form has a field %q that Planwave does not know. Reload the page.", plan.Short(key, 80)))
		}
		if field == "id" {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func readStep(form url.Values, at string) (plan.Step, error) {
	s := plan.Step{
		ID:          strings.TrimSpace(form.Get(at + "id")),
		Instruction: strings.TrimSpace(strings.ReplaceAll(form.Get(at+"instruction"), "\r\n", "\n")),
		DependsOn:   slices.DeleteFunc(slices.Clone(form[at+"depends_on"]), func(id string) bool { return id == "" }),
		Tool:        form.Get(at + "tool"),
		Strategy:    plan.Strategy(form.Get(at + "strategy")),
	}
	if s.Tool != "" {
		s.Input = readInput(form.Get(at + "input"))
	}
	if text := form.Get(at + "contract"); text != "" {
		s.Contract = &plan.Contract{}
		if err := json.Unmarshal([]byte(text), s.Contract); err != nil {
			return s, badForm(at+"contract", fmt.Sprintf("The contract of step %q cannot be read: %v.", s.ID, err))
		}
	}
	return s, nil
}

// readInput takes a tool's input as it was typed: a JSON object or string is
// that, anything else is text for the tool's text argument.
func readInput(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if (text[0] == '{' || text[0] == '"') && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil // a string always encodes
	}
	return quoted
}

func badForm(field, message string) error {
	e := plan.NewError(plan.CodeInvalid, message, nil)
	e.Violations = []plan.Violation{{Code: plan.CodeInvalid, Steps: []string{}, Field: field, Message: message}}
	return e
}

// edit makes one edit of the draft: add, add:after:ID, remove:ID, up:ID,
// down:ID, mend:N for the mend of violation N, or show for none.
func (d *draft) edit(op string, violations []plan.Violation) error {
	name, arg, _ := strings.Cut(op, ":")
	at := slices.IndexFunc(d.Plan.Steps, func(s plan.Step) bool { return s.ID == strings.TrimPrefix(arg, "after:") })
	switch {
	case op == "show": // as it is
	case name == "add" && arg == "":
		d.insert(len(d.Plan.Steps), nil)
	case name == "add" && at >= 0:
		d.insert(at+1, []string{d.Plan.Steps[at].ID})
	case name == "remove" && at >= 0:
		d.remove(at)
	case name == "up" && at > 0:
		d.Plan.Steps[at-1], d.Plan.Steps[at] = d.Plan.Steps[at], d.Plan.Steps[at-1]
	case name == "down" && at >= 0 && at < len(d.Plan.Steps)-1:
		d.Plan.Steps[at+1], d.Plan.Steps[at] = d.Plan.Steps[at], d.Plan.Steps[at+1]
	case name == "mend":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 || n >= len(violations) || violations[n].Mend == nil {
			return badForm("op", "That mend is no longer there. Look at the violations again.")
		}
		d.Plan = violations[n].Mend.Apply(d.Plan)
	case (name == "up" || name == "down") && at >= 0: // at the end of the list already
	default:
		return badForm("op", fmt.Sprintf("The form asks for %q, which Planwave does not know. Reload the page.", plan.Short(op, 80)))
	}
	return nil
}

// insert adds an empty step with the first free id of the form s1, s2, ….
func (d *draft) insert(at int, dependsOn []string) {
	for n := len(d.Plan.Steps) + 1; ; n++ {
		id := "s" + strconv.Itoa(n)
		if _, taken := d.Plan.Step(id); !taken {
			d.Plan.Steps = slices.Insert(d.Plan.Steps, at, plan.Step{ID: id, DependsOn: dependsOn})
			return
		}
	}
}

// remove takes a step out, and with it the dependencies on it.
func (d *draft) remove(at int) {
	id := d.Plan.Steps[at].ID
	d.Plan.Steps = slices.Delete(d.Plan.Steps, at, at+1)
	for i := range d.Plan.Steps {
		s := &d.Plan.Steps[i]
		s.DependsOn = slices.DeleteFunc(s.DependsOn, func(dep string) bool { return dep == id })
	}
	if d.Plan.Deliverable == id {
		d.Plan.Deliverable = ""
	}
}
