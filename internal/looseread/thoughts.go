package looseread

import "strings"

// thought is how a model marks what it writes to itself.
type thought struct {
	open, end string
	// alone says that models leave out the beginning.
	alone bool
}

func marks() []thought {
	all := []thought{
		{"[think]", "[/think]", false},
		{"◁think▷", "◁/think▷", false},
		{"<|begin_of_thought|>", "<|end_of_thought|>", false},
		{"<|channel|>analysis<|message|>", "<|end|>", false},
	}
	for _, tag := range []string{"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "analysis", "scratchpad", "seed:think"} {
		all = append(all, thought{"<" + tag + ">", "</" + tag + ">", strings.HasPrefix(tag, "think")})
	}
	return all
}

// begins says whether a text begins with a mark, in whatever case.
func begins(text, mark string) bool {
	return len(text) >= len(mark) && strings.EqualFold(text[:len(mark)], mark)
}

// indexOf is where a mark stands in a text, in whatever case, or -1.
func indexOf(text, mark string) int {
	for at := 0; ; at++ {
		next := strings.Index(text[at:], mark[:1])
		if next < 0 {
			return -1
		}
		if at += next; begins(text[at:], mark) {
			return at
		}
	}
}

// skipThought passes over thoughts that begin here, and says whether there are
// any. The end of thoughts whose beginning is not there makes thoughts of all
// before it. What follows the beginning of thoughts that never end is thought,
// too.
func (s *search) skipThought() (bool, error) {
	rest := s.text[s.at:]
	if s.marks == nil {
		s.marks = marks()
	}
	for _, m := range s.marks {
		switch {
		case m.alone && begins(rest, m.end):
			s.found, s.open = nil, nil
			s.at += len(m.end)
			return true, nil
		case !begins(rest, m.open):
			continue
		}
		end := indexOf(rest, m.end)
		switch {
		case end >= 0:
			s.at += end + len(m.end)
		case s.at == 0:
			return false, ErrThoughts
		default:
			s.at = len(s.text)
		}
		return true, nil
	}
	return false, nil
}

// AfterThoughts returns a text without the thoughts that it begins with, also
// those whose beginning is not there. It is false when they never end.
func AfterThoughts(text string) (string, bool) {
	if ends := strayEnds(text); len(ends) > 0 {
		text = text[ends[len(ends)-1]:]
	}
	for {
		text = strings.TrimSpace(text)
		s := search{text: text}
		skipped, err := s.skipThought()
		switch {
		case err != nil:
			return text, false
		case !skipped:
			return strings.TrimSpace(strings.TrimPrefix(text, final)), true
		}
		text = text[s.at:]
	}
}

// final is what some models write between their thoughts and their answer.
const final = "<|start|>assistant<|channel|>final<|message|>"

// strayEnds lists where thoughts end whose beginning is not there. Such a mark
// stands at the end of a line, where nothing inside a JSON text can.
func strayEnds(text string) []int {
	var ends []int
	all := marks()
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return ends
		}
		at += next
		for _, m := range all {
			if !m.alone {
				continue
			}
			if begins(text[at:], m.open) {
				return ends
			}
			if !begins(text[at:], m.end) {
				continue
			}
			after := strings.TrimLeft(text[at+len(m.end):], " \t")
			if after == "" || after[0] == '\n' || after[0] == '\r' {
				ends = append(ends, at)
			}
		}
		at++
	}
}
