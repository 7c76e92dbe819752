package demo

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func TestCitiesInAText(t *testing.T) {
	for text, want := range map[string]string{
		"Which of Brindlemoor, Quillhaven and Tarnby is old?": "Brindlemoor|Quillhaven|Tarnby",
		"is tarnby older than ASHWICK":                        "Tarnby|Ashwick",
		"Tarnby's and Ashwick’s people":                       "Tarnby|Ashwick",
		"tarnby, Tarnby and TARNBY":                           "Tarnby",
		"tarnbyshire":                                         "",
		"the population of Quillhaven and Atlantis":           "Quillhaven|Atlantis",
		"Atlantis and Quillhaven":                             "Atlantis|Quillhaven",
		"of New York, Los Angeles and Tarnby":                 "New York|Los Angeles|Tarnby",
		"of Saint-Denis or Tarnby":                            "Saint-Denis|Tarnby",
		"larger than Ålesund":                                 "Ålesund",
		"Is Ashwick old? Compare The Two. Then Say So.":       "Ashwick",
		"By how much? What? Which? Please look up nothing.":   "",
		"Write a Poem":                                        "",
		"and the état of things":                              "",
		"":                                                    "",
		"Look up Atlantis with get_city: population.":         "Atlantis",
	} {
		cities, rest := citiesIn(text)
		if got := strings.Join(cities, "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		for _, c := range cities {
			if strings.Contains(rest, c) {
				t.Errorf("%s: %s is still in %q", text, c, rest)
			}
		}
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]inquiry{
		"the densest":                          {op: most, measure: density},
		"the most densely populated":           {op: most, measure: density},
		"the highest density":                  {op: most, measure: density},
		"the most populous":                    {op: most, measure: population},
		"the most people per km²":              {op: most, measure: density},
		"the fewest inhabitants":               {op: least, measure: population, fewer: true},
		"the biggest":                          {op: most, measure: area},
		"the smallest area":                    {op: least, measure: area},
		"the oldest":                           {op: most, measure: founded},
		"founded last? The youngest":           {op: least, measure: founded},
		"how many percent larger":              {op: percent, measure: population},
		"how many per cent smaller":            {op: percent, measure: population, fewer: true},
		"by how much is its area larger, in %": {op: percent, measure: area},
		"how much larger":                      {op: difference, measure: area},
		"how many more people":                 {op: difference, measure: population},
		"how many years older":                 {op: difference, measure: founded},
		"how many times denser":                {op: ratio, measure: density},
		"combined":                             {op: sum, measure: population},
		"the total area":                       {op: sum, measure: area},
		"when was it founded":                  {measure: founded},
		"population, area and year":            {measure: facts},
		"the density (population / area)":      {measure: density},
		"tell me about it":                     {},
		"the population, not the density":      {measure: population},
		"the most beautiful":                   {op: most, measure: facts},
	} {
		want.meant = true
		got := read(text)
		if want.op == percent && want.fewer != got.fewer || got.op != want.op || got.measure != want.measure || !got.meant {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"", "hello", "what percentage of it", "the second largest", "the average population", "is it nice?"} {
		if q, ok := read(text + " of Tarnby and Ashwick").settled(); ok {
			t.Errorf("%q is read as %+v", text, q)
		}
	}
}

// TestInstructionsAreReadAsTheyAreMeant holds that an executor, which sees the
// instruction alone, does what the planner meant.
func TestInstructionsAreReadAsTheyAreMeant(t *testing.T) {
	cities := [][]string{
		{"Tarnby"}, {"Tarnby", "Ashwick"}, {"Ashwick", "Tarnby"}, {"Atlantis", "Quillhaven"}, {"Old Sarum", "El Dorado"}, names(), {"Brindlemoor", "Mostar", "Tarnby"},
	}
	seen := 0
	for _, named := range cities {
		for _, op := range []operation{tell, most, least, difference, percent, sum, ratio} {
			for _, m := range []measure{facts, population, area, density, founded} {
				for _, fewer := range []bool{false, true} {
					q, ok := inquiry{cities: named, op: op, measure: m, fewer: fewer, meant: true}.settled()
					if !ok {
						continue
					}
					seen++
					instruction := lastInstruction(q)
					got, ok := read(instruction).settled()
					if !ok || !reflect.DeepEqual(got, q) {
						t.Errorf("%s\nis read as %+v\nnot as     %+v", instruction, got, q)
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d inquiries were tried", seen)
	}
	for _, m := range []measure{facts, population, area, founded} {
		for _, named := range cities {
			q, ok := read(lookUp(named, m)).settled()
			if !ok || q.op != tell || q.measure != m || !slices.Equal(q.cities, named) {
				t.Errorf("%s is read as %+v", lookUp(named, m), q)
			}
		}
	}
}

func TestPlansOfAllSizesKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var named []string
		for i := range rapid.IntRange(1, 30).Draw(t, "cities") {
			named = append(named, fmt.Sprintf("City%c", 'A'+i))
		}
		q, ok := inquiry{cities: named, op: rapid.SampledFrom([]operation{tell, most, sum}).Draw(t, "op"), measure: population, meant: true}.settled()
		if !ok {
			return
		}
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		p := planOf(q, limit)
		if found := plan.Check(p, plan.Rules{MaxSteps: limit}); len(found) > 0 {
			t.Fatalf("%+v breaks %+v", p, found)
		}
	})
}

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for want, got := range map[string]string{
		"1,200.0": grouped(1200, 1), "999": grouped(999, 0), "1,000": grouped(999.6, 0), "-1,234,567.9": grouped(-1234567.89, 1), "0.0": grouped(0, 1),
		"120": plain(120), "0.1": plain(0.1), "84000": plain(84000),
		"a": list([]string{"a"}), "a and b": list([]string{"a", "b"}), "a, b and c": list([]string{"a", "b", "c"}), "": list(nil),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"<step>\na\n</step>": "a", "<step id=\"s1\">\na\nb\n</step>": "a\nb", "x\n<step>\n\na\n</step>\ny": "a", "<step>\na": "a", "": "",
		"<step": "", "<step>": "", "<step>a</step>": "", "<steps>\na\n</steps>": "", "about <step>\na\n</step>": "", "<step>\n</step>": "",
	} {
		if got := block(text, "step"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := block("<steps>\nall\n</steps>\n<step id=\"a\">\none\n</step>", "step"); got != "one" {
		t.Errorf("the block of step is %q", got)
	}
}
