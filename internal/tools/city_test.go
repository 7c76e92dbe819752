package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

// BEHAVIOUR 13
func TestTheSampleCities(t *testing.T) {
	tests := map[string]string{
		"Brindlemoor": `{"city":"Brindlemoor","population":84000,"area_km2":120.0,"founded":1721}`,
		"Quillhaven":  `{"city":"Quillhaven","population":156000,"area_km2":130.0,"founded":1648}`,
		"Tarnby":      `{"city":"Tarnby","population":39000,"area_km2":130.0,"founded":1893}`,
		"Ashwick":     `{"city":"Ashwick","population":210000,"area_km2":350.0,"founded":1502}`,
	}
	r := registry(t, City())
	for name, want := range tests {
		// BEHAVIOUR 4.4: case and spaces around do not matter.
		for _, written := range []string{name, strings.ToUpper(name), "  " + strings.ToLower(name) + "\n"} {
			args, err := json.Marshal(map[string]string{"name": written})
			if err != nil {
				t.Fatal(err)
			}
			out := call(t, r, "get_city", string(args))
			if out.IsError || out.Text != want || string(out.Data) != want {
				t.Errorf("%q: %q, data %s", written, out.Text, out.Data)
			}
		}
	}
}

// BEHAVIOUR 4.4: an unknown name is answered with the names there are.
func TestAnUnknownCityIsAnsweredWithThoseThereAre(t *testing.T) {
	r := registry(t, City())
	for _, name := range []string{"Atlantis", "", "Brindle moor", strings.Repeat("x", 100_000)} {
		args, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			t.Fatal(err)
		}
		out := call(t, r, "get_city", string(args))
		if !out.IsError || len(out.Data) > 0 || len(out.Text) > 500 {
			t.Errorf("%.20q: %.200q, data %s", name, out.Text, out.Data)
		}
		mentions(t, out.Text, "Brindlemoor, Quillhaven, Tarnby, Ashwick")
	}
}
