package plan

import "fmt"

// Mended returns the plan with what can be put right without asking, and a
// sentence for each change. Only repeated dependencies are.
func Mended(p Plan) (Plan, []string) {
	p = p.Clone()
	var mends []string
	for i := range p.Steps {
		s := &p.Steps[i]
		kept := make([]string, 0, len(s.DependsOn))
		times := make(map[string]int, len(s.DependsOn))
		for _, id := range s.DependsOn {
			if times[id]++; times[id] == 1 {
				kept = append(kept, id)
			}
			if times[id] == 2 {
				mends = append(mends, fmt.Sprintf("Step %s named %s more than once in depends_on; one is kept.", shown(s.ID), shown(id)))
			}
		}
		s.DependsOn = kept
	}
	return p, mends
}
