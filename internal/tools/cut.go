package tools

import (
	"fmt"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// ResultLimit is how much of a tool's result, in characters, goes to a model.
const ResultLimit = 20_000

// Cut returns at most limit characters of a result for a model, with a notice
// of how much there is. It cuts between characters. The whole result is kept in
// the trace.
func Cut(text string, limit int) string {
	limit = max(limit, 0)
	n, end := 0, 0
	for i := range text {
		if n == limit {
			end = i
		}
		n++
	}
	if n <= limit {
		return text
	}
	return fmt.Sprintf("%s\n… %s", text[:end], CutNotice(limit, n))
}

// CutNotice says that something was cut: how many characters of how many are
// shown.
func CutNotice(shown, of int) string {
	return message.NewPrinter(language.English).Sprintf(
		"cut: showing %d of %d characters; the whole result is in the trace", shown, of)
}
