package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"planwave/internal/model"
)

// facts are the figures of a city, as a tool told them.
type facts struct {
	City       string  `json:"city"`
	Population float64 `json:"population"`
	Area       float64 `json:"area_km2"`
	Founded    float64 `json:"founded"`
	Known      *bool   `json:"known"`
}

// knowledge is what an executor was given and what its tools told it.
type knowledge struct {
	order    []string // cities in the order they came
	cities   map[string]facts
	unknown  []string
	computed map[string]float64 // by expression
}

// carryOut does one turn of a step: the next tool calls, or the result. The
// step's instruction alone says what to do.
func carryOut(req model.Request) (model.Response, error) {
	text := req.Messages[0].Text
	instruction := tagged(text, "step")
	q := read(instruction)
	k := gather(req, tagged(text, "results"))
	if len(q.cities) == 0 {
		q.cities = append(slices.Clone(k.order), k.unknown...)
	}
	only := regexp.MustCompile(`(?i)^\s*(look up|find|get)\b`).MatchString(instruction)
	if only {
		q.op = lookUp
	}
	if len(q.cities) == 0 || q.op == lookUp && !only && !q.known() {
		return model.Response{}, beyond()
	}
	if calls := k.missing(q); len(calls) > 0 {
		return model.Response{Calls: calls}, nil
	}
	if q.op == lookUp {
		return model.Response{Text: asJSON(k.report(q.cities))}, nil
	}
	if calls := k.sums(q); len(calls) > 0 {
		return model.Response{Calls: calls}, nil
	}
	return model.Response{Text: asJSON(k.conclude(q))}, nil
}

// gather reads results of dependencies and of the tools called so far.
func gather(req model.Request, results string) *knowledge {
	k := &knowledge{cities: map[string]facts{}, computed: map[string]float64{}}
	for line := range strings.SplitSeq(results, "\n") {
		var r struct {
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal([]byte(line), &r) == nil {
			k.learn(r.Data)
		}
	}
	asked := map[string]model.ToolCall{}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			asked[c.ID] = c
		}
		for _, r := range m.Results {
			k.hear(asked[r.ID], r)
		}
	}
	return k
}

// learn takes in the data of a city, if it is that.
func (k *knowledge) learn(data []byte) {
	var f facts
	if json.Unmarshal(data, &f) != nil || f.City == "" {
		return
	}
	if f.Known != nil && !*f.Known {
		k.miss(f.City)
		return
	}
	if _, had := k.cities[f.City]; !had && f.Area > 0 {
		k.order = append(k.order, f.City)
		k.cities[f.City] = f
	}
}

func (k *knowledge) miss(city string) {
	if !slices.Contains(k.unknown, city) {
		k.unknown = append(k.unknown, city)
	}
}

// hear takes in what a tool answered.
func (k *knowledge) hear(c model.ToolCall, r model.ToolResult) {
	var args struct{ Name, Expression string }
	if json.Unmarshal(c.Arguments, &args) != nil {
		return
	}
	switch {
	case c.Name == "get_city" && r.IsError:
		k.miss(args.Name)
	case c.Name == "get_city":
		k.learn([]byte(r.Text))
	case c.Name == "calculate" && !r.IsError:
		if v, err := strconv.ParseFloat(strings.TrimSpace(r.Text), 64); err == nil {
			k.computed[args.Expression] = v
		}
	}
}

// missing are look-ups of cities that nothing is known of yet.
func (k *knowledge) missing(q inquiry) []model.ToolCall {
	var calls []model.ToolCall
	for _, city := range q.cities {
		if _, ok := k.cities[city]; !ok && !slices.Contains(k.unknown, city) {
			calls = append(calls, call("get_city", "name", city, len(calls)))
		}
	}
	return calls
}

func call(tool, argument, value string, n int) model.ToolCall {
	return model.ToolCall{
		ID: fmt.Sprintf("%s-%d", tool, n+1), Name: tool,
		Arguments: json.RawMessage(asJSON(map[string]string{argument: value})),
	}
}

// report is the result of a look-up.
func (k *knowledge) report(cities []string) map[string]any {
	var said []string
	out := map[string]any{}
	for _, city := range cities {
		f, ok := k.cities[city]
		if !ok {
			said = append(said, fmt.Sprintf("%s is not known here; the cities there are are %s.", city, list(names())))
			out["city"], out["known"] = city, false
			continue
		}
		said = append(said, fmt.Sprintf("%s has %s people on %s km² and was founded in %.0f.",
			city, grouped(f.Population, 0), grouped(f.Area, 1), f.Founded))
		out["city"], out["population"], out["area_km2"], out["founded"] = city, f.Population, f.Area, f.Founded
	}
	out["result"] = strings.Join(said, " ")
	return out
}
