package demo

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"planwave/internal/model"
)

// city is what a tool told of a city.
type city struct {
	City       string  `json:"city"`
	Population float64 `json:"population"`
	Area       float64 `json:"area_km2"`
	Founded    float64 `json:"founded"`
}

// knowledge is what an executor was given and what its tools told it.
type knowledge struct {
	order    []string // names in the order they came, known or not
	cities   map[string]city
	missing  map[string]string  // why a city is not known
	computed map[string]float64 // by expression
	failed   map[string]string  // why an expression was not worked out
}

func (k *knowledge) has(name string) bool {
	_, ok := k.cities[name]
	return ok
}

// gather reads the results of dependencies and of the tools called so far.
func gather(req model.Request, results string) *knowledge {
	k := &knowledge{cities: map[string]city{}, missing: map[string]string{}, computed: map[string]float64{}, failed: map[string]string{}}
	for line := range strings.SplitSeq(results, "\n") {
		var r struct {
			Result string          `json:"result"`
			Data   json.RawMessage `json:"data"`
		}
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		if !k.learn(r.Data) {
			k.learn([]byte(r.Result)) // a tool's own words
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

// learn takes in a city, or several, if that is what the data is.
func (k *knowledge) learn(data []byte) bool {
	var one struct {
		city
		Known  *bool             `json:"known"`
		Reason string            `json:"reason"`
		Cities []json.RawMessage `json:"cities"`
	}
	if json.Unmarshal(data, &one) != nil {
		return false
	}
	for _, c := range one.Cities {
		k.learn(c)
	}
	switch {
	case one.City == "":
		return len(one.Cities) > 0
	case one.Known != nil && !*one.Known:
		k.miss(one.City, one.Reason)
	case one.Population > 0 && one.Area > 0:
		k.know(one.city)
	default:
		return false
	}
	return true
}

func (k *knowledge) know(c city) {
	for _, name := range names() {
		if strings.EqualFold(name, c.City) {
			c.City = name
		}
	}
	if !k.has(c.City) {
		k.order = append(k.order, c.City)
		k.cities[c.City] = c
	}
}

func (k *knowledge) miss(name, reason string) {
	if k.has(name) || k.missing[name] != "" {
		return
	}
	if reason == "" {
		reason = notKnown
	}
	k.order = append(k.order, name)
	k.missing[name] = reason
}

// notKnown is why most cities are missing.
const notKnown = "is not known"

var saysNotKnown = regexp.MustCompile(`(?i)\bno (such )?(city|town)\b|\bnot (known|found)\b|\bunknown\b`)

// hear takes in what a tool answered.
func (k *knowledge) hear(c model.ToolCall, r model.ToolResult) {
	var args struct{ Name, Expression string }
	if json.Unmarshal(c.Arguments, &args) != nil {
		return
	}
	switch c.Name {
	case "get_city":
		switch {
		case r.IsError && saysNotKnown.MatchString(r.Text):
			k.miss(args.Name, notKnown)
		case r.IsError || !k.learn([]byte(r.Text)):
			k.miss(args.Name, "could not be looked up ("+strings.TrimRight(short(r.Text), ". ")+")")
		}
	case "calculate":
		v, err := strconv.ParseFloat(strings.TrimSpace(r.Text), 64)
		if r.IsError || err != nil {
			k.failed[args.Expression] = strings.TrimRight(short(r.Text), ". ")
			return
		}
		k.computed[args.Expression] = v
	}
}
