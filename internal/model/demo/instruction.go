package demo

import "fmt"

// lookUp is the instruction to look cities up.
func lookUp(cities []string, m measure) string {
	what := "population, area in km² and year of foundation"
	switch m {
	case population:
		what = "population"
	case area:
		what = "area in km²"
	case founded:
		what = "year of foundation"
	case facts, density:
	}
	return fmt.Sprintf("Look up %s with get_city: %s.", list(cities), what)
}

// lastInstruction is the instruction of the step that brings everything
// together. It can be understood alone.
func lastInstruction(q inquiry) string {
	cities := list(q.cities)
	first, second := q.cities[0], q.cities[len(q.cities)-1]
	noun := nounOf(q.measure)
	switch q.op {
	case most, least:
		return comparison(q)
	case percent:
		than := "larger"
		if q.fewer {
			than = "smaller"
		}
		return fmt.Sprintf("Work out with calculate by how many percent the %s of %s is %s than that of %s.", noun, first, than, second)
	case ratio:
		return fmt.Sprintf("Work out with calculate the ratio of the %s of %s to that of %s.", noun, first, second)
	case difference:
		if q.measure == founded {
			return fmt.Sprintf("Work out with calculate how many years lie between the foundation of %s and that of %s.", first, second)
		}
		return fmt.Sprintf("Work out with calculate the difference between the %s of %s and that of %s.", noun, first, second)
	case sum:
		return fmt.Sprintf("Add up with calculate the %s of %s.", noun, cities)
	case tell:
	}
	if q.measure == density {
		return fmt.Sprintf("Work out with calculate the density (population / area) of %s.", cities)
	}
	return fmt.Sprintf("Say the %s of %s.", noun, cities)
}

// comparison is the instruction to find the city with most or least.
func comparison(q inquiry) string {
	cities, which := list(q.cities), superlative(q)
	switch q.measure {
	case density:
		return fmt.Sprintf("Work out with calculate the density (population / area) of %s and say which is the %s.", cities, which)
	case founded:
		return fmt.Sprintf("Compare when %s were founded and say which is the %s.", cities, which)
	case facts, population, area:
	}
	return fmt.Sprintf("Compare the %s of %s and say which is the %s.", nounOf(q.measure), cities, which)
}

func superlative(q inquiry) string {
	up := q.op == most
	switch q.measure {
	case density:
		return either(up, "densest", "least dense")
	case area:
		return either(up, "largest", "smallest")
	case founded:
		return either(up, "oldest", "youngest")
	case facts, population:
	}
	return either(up, "most populous", "least populous")
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func nounOf(m measure) string {
	switch m {
	case area:
		return "area"
	case density:
		return "density"
	case founded:
		return "year of foundation"
	case population:
		return "population"
	case facts:
	}
	return "population, area and year of foundation"
}
