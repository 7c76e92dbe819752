package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// Whoever carries out an instruction is given what is in depends_on, so it
// refers to nothing else.
func TestInstructionsReferToWhatTheyAreGiven(t *testing.T) { // BEHAVIOUR 2.2, 4.1
	for instruction, refused := range map[string]string{
		"Sum up ${s1} and ${E1.n}.": "s1 E1", "Sum up #E1.": "E1", "Sum up {{ steps.s1.output }}.": "s1", "Sum up {{s1}} and ${s1}.": "s1",
		"Sum up ${s2} and #E2, s1 too.": "", "Say $s1, #s1 and #1.": "", "Write ${x} in the file ${nobody}.": "", "Say ${nobody}, {{HOME}} and ${ s1 }.": "",
	} {
		p := steps("s1", "s2", "E1", "E2", "x: s2 E2", "end: x s1 E1")
		p.Steps[4].Instruction = instruction
		var named []string
		for _, v := range plan.Check(p, plan.Rules{}) {
			if v.Code != plan.CodeBadReference || v.Mend == nil || !strings.HasPrefix(v.Message, "The instruction of step x refers to ") {
				t.Errorf("%s: %+v", instruction, v)
				continue
			}
			named = append(named, (*v.Mend.DependsOn)[2])
			if !slices.Equal((*v.Mend.DependsOn)[:2], []string{"s2", "E2"}) {
				t.Errorf("%s: the mend is %v", instruction, *v.Mend.DependsOn)
			}
		}
		if got := strings.Join(named, " "); got != refused {
			t.Errorf("%s: refused are %s, want %s", instruction, fmt.Sprint(named), refused)
		}
	}
}
