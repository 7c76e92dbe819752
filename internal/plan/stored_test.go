package plan_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"planwave/internal/plan"
)

// stored is every event as it stands in the log of runs that there are. A line
// that is there is never changed: logs written long ago must be read. What an
// event has gained since stands in further lines, see gained.
func stored() map[plan.EventType]string {
	return map[plan.EventType]string{
		"run.created": `{"question":"Which?","options":{"strategy":"plan","approval":"manual","schedule":"waves","max_steps":6,"max_parallel":5,` +
			`"replan":{"when":"never","max":3,"approval":"same"},"budget":{"requests":40,"tokens":200000,"cost_usd":0.5,"steps":null},` +
			`"models":{"planner":"demo"},"tools":["get_city"],"instructions":"short","webhook":"https://example.org/hook"},"by":"ann"}`,
		"plan.requested": `{"comment":"shorter","by":"ann"}`,
		"plan.rejected": `{"text":"{}","plan":{"steps":[{"id":"s1","instruction":"x","depends_on":["s1"]}]},` +
			`"violations":[{"code":"self_dependency","steps":["s1"],"message":"m","mend":{"label":"l","step":"s1","depends_on":[]}}],"no_json":true}`,
		"plan.proposed": `{"version":1,"plan":{"steps":[{"id":"s1","instruction":"x","depends_on":[],"tool":"get_city","input":{"name":"Tarnby"},` +
			`"contract":{"required":["n"],"checks":["n \u003e 0"]},"strategy":"react"}],"deliverable":"s1"},"hash":"sha256:1","author":"planner","reason":"first plan",` +
			`"mends":["m"],"warnings":[{"code":"duplicate_dependency","steps":["s1"],"message":"m","warning":true}]}`,
		"plan.edited":             `{"version":2,"plan":{"steps":[{"id":"s1","instruction":"x","depends_on":[]}]},"hash":"sha256:2","author":"ann"}`,
		"plan.approved":           `{"version":2,"hash":"sha256:2","by":"ann"}`,
		"run.started":             `{}`,
		"wave.started":            `{"wave":1,"steps":["s1","s2"]}`,
		"wave.finished":           `{"wave":1}`,
		"step.started":            `{"step":"s1","attempt":1,"wave":1}`,
		"step.tool_called":        `{"step":"s1","attempt":1,"id":"t1","tool":"get_city","arguments":{"name":"Tarnby"},"error":"gone","duration_ms":7}`,
		"step.approval_requested": `{"id":"p1","step":"s1","attempt":1,"tool":"send_mail","arguments":{"to":"x"}}`,
		"step.approval_decided":   `{"id":"p1","step":"s1","decision":"allow","scope":"once","by":"ann"}`,
		"step.succeeded":          `{"step":"s1","attempt":1,"result":"39,000","data":{"result":"39,000","n":39000}}`,
		"step.failed":             `{"step":"s1","attempt":1,"error":{"code":"tool_failed","message":"m"}}`,
		"step.invalid":            `{"step":"s1","attempt":1,"error":{"code":"contract_broken","message":"m"},"result":"x"}`,
		"step.skipped":            `{"step":"s2","cause":"s1"}`,
		"step.cancelled":          `{"step":"s2","attempt":1}`,
		"step.reset":              `{"steps":["s1","s2"],"reason":"retry"}`,
		"replan.requested":        `{"number":1,"reason":"step s1 failed","error":{"code":"plan_invalid","message":"m"}}`,
		"answer.started":          `{"attempt":1}`,
		"answer.written":          `{"result":"**Tarnby**","subject":"Tarnby","value":1200.5,"rests_on":["s1"]}`,
		"run.resumed":             `{}`,
		"run.continued":           `{"status":"running","reason":"tried again","budget":{"requests":80,"tokens":400000,"cost_usd":1.5,"steps":9},"by":"ann"}`,
		"run.waiting":             `{}`,
		"run.succeeded":           `{}`,
		"run.partial":             `{}`,
		"run.failed":              `{"error":{"code":"all_steps_failed","message":"m"}}`,
		"run.cancelled":           `{"by":"ann"}`,
		"usage.reserved":          `{"call":"c1","agent":"executor","step":"s1","attempt":1,"model":"demo","amount":{"requests":1,"tokens":900,"cost_usd":0.01,"steps":1}}`,
		"usage.settled": `{"call":"c1","agent":"executor","step":"s1","usage":{"requests":1,"input_tokens":5,"output_tokens":3,"cached_tokens":2,` +
			`"thinking_tokens":1,"total_tokens":8,"cost_usd":0.0021},"error":{"code":"model_unreachable","message":"m"}}`,
	}
}

// gained are lines with the fields that events did not have at first.
func gained() map[plan.EventType]string {
	return map[plan.EventType]string{
		"run.created": `{"question":"Which?","options":{"strategy":"plan","approval":"manual","schedule":"waves","max_steps":6,"max_parallel":5,` +
			`"replan":{"when":"never","max":3,"approval":"same"},"budget":{"requests":40,"tokens":200000,"cost_usd":0.5,"steps":null},` +
			`"models":null,"tools":null},"forked_from":"r0","recorded":true}`,
		"plan.proposed":    `{"version":2,"plan":{"steps":[{"id":"s1","instruction":"x","depends_on":[]}]},"hash":"sha256:2","author":"planner","kept":["s1"]}`,
		"step.tool_called": `{"step":"s1","attempt":1,"id":"t1","tool":"send_mail","arguments":{},"duration_ms":7,"approval":"p1"}`,
		"step.succeeded":   `{"step":"s1","attempt":0,"from":"r0","result":"39,000"}`,
		"step.cancelled":   `{"step":"s2","reason":"the budget is used up"}`,
		"step.reset":       `{"steps":["s1"],"by":"ann"}`,
		"answer.started":   `{"attempt":1,"reason":"the limit of rounds is reached"}`,
		"run.succeeded":    `{"error":{"code":"model_unreachable","message":"m"}}`,
		"run.partial":      `{"error":{"code":"model_unreachable","message":"m"}}`,
	}
}

func TestEventsInTheLogAreReadForEver(t *testing.T) { // BEHAVIOUR 12.1
	first, later := stored(), gained()
	for _, event := range plan.EventTypes() {
		if _, ok := first[event]; !ok {
			t.Errorf("there is no line of %s: add the first one that is written", event)
		}
	}
	for _, lines := range []map[plan.EventType]string{first, later} {
		for event, line := range lines {
			if !slices.Contains(plan.EventTypes(), event) {
				t.Errorf("%s was written once and cannot be read any more", event)
				continue
			}
			p, err := plan.Decode(event, []byte(line))
			if err != nil {
				t.Errorf("%s: %v", event, err)
				continue
			}
			b, err := plan.Encode(p)
			if err != nil || string(b) != line {
				t.Errorf("%s is written again as\n%s, %v, and was\n%s", event, b, err, line)
			}
		}
	}
}

func TestNoFieldOfAnEventIsForgotten(t *testing.T) { // every field stands in a line of its event
	later := gained()
	for event, line := range stored() {
		if event == "plan.edited" || event == "step.invalid" { // the same fields as plan.proposed and step.succeeded
			continue
		}
		bare := lacking(t, event, line)
		if more, ok := later[event]; ok {
			other := lacking(t, event, more)
			bare = slices.DeleteFunc(bare, func(name string) bool { return !slices.Contains(other, name) })
		}
		for _, name := range bare {
			t.Errorf("no line of %s says anything of %s", event, name)
		}
	}
}

// lacking names the fields that a line says nothing of.
func lacking(t *testing.T, event plan.EventType, line string) []string {
	t.Helper()
	p, err := plan.Decode(event, []byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return unset(reflect.ValueOf(p), string(event))
}

// unset names the fields of a value that have no value. What may be unlimited
// or stands for one of several is left out.
func unset(v reflect.Value, name string) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			if slices.Contains([]string{"Budget.Steps", "Mend.Deliverable", "Mend.Tool", "Violation.Mend", "Step.Contract", "Plan.Steps"}, name) {
				return nil
			}
			return []string{name}
		}
		return unset(v.Elem(), name)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() || v.Len() == 0 {
			break
		}
		return unset(v.Index(0), name)
	case reflect.Struct:
		var names []string
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue // known from the event, not written
			}
			names = append(names, unset(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)...)
		}
		return names
	default:
	}
	optional := []string{
		"Violation.Field", "Violation.Warning", "Plan.Deliverable", "Step.Tool", "Step.Input", "Step.Strategy", "Step.DependsOn", "Mend.DependsOn",
	}
	if v.IsZero() && !slices.Contains(optional, name) {
		return []string{name}
	}
	return nil
}

func TestEventsOfTheFutureAreReadAsFarAsTheyAreKnown(t *testing.T) {
	p, err := plan.Decode(plan.EventStepStarted, []byte(`{"step":"s1","attempt":2,"wave":3,"worker":"w9","more":{"x":[1]}}`))
	if want := (plan.StepStarted{Step: "s1", Attempt: 2, Wave: 3}); err != nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{``, `[]`, `"s1"`, `{"step":1}`, `{"attempt":"x"}`, `{`} {
		if p, err := plan.Decode(plan.EventStepStarted, []byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, p)
		}
	}
}

func TestDefaults(t *testing.T) { // BEHAVIOUR 5.4, 7.1, 8.1; API: POST /runs
	b, err := json.Marshal(plan.DefaultOptions())
	want := `{"strategy":"plan","approval":"manual","schedule":"waves","max_steps":6,"max_parallel":5,` +
		`"replan":{"when":"never","max":3,"approval":"same"},"budget":{"requests":40,"tokens":200000,"cost_usd":null,"steps":null},"models":null,"tools":null}`
	if err != nil || string(b) != want {
		t.Errorf("defaults\n%s, %v, want\n%s", b, err, want)
	}
	one, other := plan.DefaultOptions(), plan.DefaultOptions()
	*one.Budget.Requests = 1
	if *other.Budget.Requests != plan.DefaultRequests {
		t.Error("two runs share one budget")
	}
}
