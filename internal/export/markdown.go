package export

import (
	"fmt"
	"regexp"
	"strings"

	"planwave/internal/plan"
)

// Markdown writes a run as a report to read: the answer, the plan, what each
// step gave, and what it took. calls are its trace.
func Markdown(r *plan.Run, calls []plan.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s", mdText(oneLine(r.Question)), capital(r.Status.Words()))
	fmt.Fprintf(&b, " · asked %s UTC · %d calls, %d tokens, %s\n", r.CreatedAt.UTC().Format("2006-01-02 15:04:05"), r.Usage.Requests, r.Usage.TotalTokens, cost(r.Usage))
	if r.Error != nil {
		fmt.Fprintf(&b, "\n%s\n", mdText(oneLine(r.Error.Message)))
	}
	if r.Answer != nil {
		answer(&b, r)
	}
	if len(r.Plan().Steps) > 0 {
		steps(&b, r)
	}
	if len(calls) > 0 {
		trace(&b, calls)
	}
	return b.String()
}

func answer(b *strings.Builder, r *plan.Run) {
	b.WriteString("\n## Answer\n\n")
	if r.Status == plan.RunStatusPartial {
		b.WriteString("This rests on fewer results than planned.\n\n")
	}
	b.WriteString(mdForeign(r.Answer.Result) + "\n")
	if len(r.Answer.RestsOn) > 0 {
		fmt.Fprintf(b, "\nRests on %s.\n", mdText(strings.Join(r.Answer.RestsOn, ", ")))
	}
}

func steps(b *strings.Builder, r *plan.Run) {
	b.WriteString("\n## Plan\n")
	for _, st := range r.Plan().Steps {
		is := r.Step(st.ID)
		fmt.Fprintf(b, "\n### %s · %s\n\n%s\n", mdText(st.ID), words(is.Status), mdText(oneLine(st.Instruction)))
		var facts []string
		if st.Tool != "" {
			facts = append(facts, "tool "+mdText(st.Tool))
		}
		if len(st.DependsOn) > 0 {
			facts = append(facts, "after "+mdText(strings.Join(st.DependsOn, ", ")))
		}
		if is.Cause != "" {
			facts = append(facts, "skipped since "+mdText(is.Cause)+" did not succeed")
		}
		if len(facts) > 0 {
			fmt.Fprintf(b, "\n%s\n", strings.Join(facts, " · "))
		}
		if is.Error != nil {
			fmt.Fprintf(b, "\n%s\n", mdText(oneLine(is.Error.Message)))
		}
		if is.Result.Text != "" {
			b.WriteString("\n" + fenced(is.Result.Text))
		}
	}
}

func trace(b *strings.Builder, calls []plan.Call) {
	b.WriteString("\n## Calls\n\n| agent | step | model | tokens | cost | took | error |\n|---|---|---|---:|---:|---:|---|\n")
	for _, c := range calls {
		took, fault := "", ""
		if !c.FinishedAt.IsZero() {
			took = fmt.Sprintf("%.1f s", c.FinishedAt.Sub(c.StartedAt).Seconds())
		}
		if c.Error != nil {
			fault = mdText(plan.Short(oneLine(c.Error.Message), labelLimit))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s | %s |\n", c.Agent, mdText(oneLine(c.Step)), mdText(oneLine(c.Model)), c.Usage.TotalTokens, cost(c.Usage), took, fault)
	}
}

func cost(u plan.Usage) string {
	if u.CostUSD == nil {
		return "cost unknown"
	}
	return fmt.Sprintf("$%.4f", u.CostUSD.Dollars())
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// mdText writes a text so that Markdown reads nothing in it but text.
func mdText(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*_{}[]()#+-.!|>~$:@", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// address finds where a link, a picture or a definition of one names an address.
var address = regexp.MustCompile(`(!?\[)|(\]\s*[(:]\s*)([^\s)]*)`)

// mdForeign is Markdown that a model wrote, without HTML, without pictures, with
// links to http, https and mailto only, and with every block of code ended.
func mdForeign(text string) string {
	text = strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(printable(text))
	text = address.ReplaceAllStringFunc(text, func(found string) string {
		m := address.FindStringSubmatch(found)
		switch {
		case m[1] == "![":
			return `!\[`
		case m[1] != "" || m[3] == "" || toTheWeb(m[3]):
			return found
		}
		return m[2] + "about:blank#"
	})
	return closed(text)
}

// toTheWeb says whether an address, in which Markdown takes out backslashes, is
// one that may be followed.
func toTheWeb(address string) bool {
	address = strings.ToLower(strings.ReplaceAll(address, `\`, ""))
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(address, scheme) {
			return true
		}
	}
	return false
}

var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")

// closed ends a block of code that the text leaves open.
func closed(text string) string {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m == nil:
		case open == "":
			open = m[1]
		case strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
			open = ""
		}
	}
	if open != "" {
		text += "\n" + open
	}
	return text
}

// fenced writes a text as a block that it cannot end.
func fenced(text string) string {
	text = printable(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence + "\n"
}
