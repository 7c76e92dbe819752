package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/plan"
)

//go:embed data/cities.json
var citiesJSON []byte

// city is one of the sample cities. They are invented, so that no model can
// know them.
type city struct {
	City       string      `json:"city"`
	Population int         `json:"population"`
	AreaKM2    json.Number `json:"area_km2"` // with its decimal place
	Founded    int         `json:"founded"`  // year
}

type cityTool struct{}

// City returns the tool get_city, which knows the sample cities.
func City() Tool { return cityTool{} }

// Info describes the tool.
func (cityTool) Info() Info {
	return Info{
		Name: "get_city", ReadOnly: true,
		Description: "Population, area in km² and year of foundation of one of the sample cities.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string",` +
			`"description":"the name of the city"}},"required":["name"],"additionalProperties":false}`),
	}
}

// Call looks a city up, whatever the case of its letters.
func (cityTool) Call(_ context.Context, arguments json.RawMessage) (Result, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	cities, err := sampleCities()
	if err != nil {
		return Result{}, err
	}
	name := strings.TrimSpace(in.Name)
	var names []string
	for _, c := range cities {
		if strings.EqualFold(c.City, name) {
			data, err := json.Marshal(c)
			return Result{Text: string(data), Data: data}, err
		}
		names = append(names, c.City)
	}
	return failed("There is no city %q here. The cities there are: %s.", plan.Short(name, mostNamed), strings.Join(names, ", ")), nil
}

func sampleCities() ([]city, error) {
	var cities []city
	if err := json.Unmarshal(citiesJSON, &cities); err != nil {
		return nil, fmt.Errorf("read the sample cities: %w", err)
	}
	return cities, nil
}
