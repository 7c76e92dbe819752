package fetch

import (
	"strings"
	"unicode"
)

const (
	// indent stands before what belongs to an item of a list.
	indent = "  "
	// mostText is how long the text of a page may become, in bytes. Links and
	// indentation can make it longer than the page.
	mostText = 1 << 20
	// deepest is how long what stands before every line may become, in bytes.
	deepest = 24
)

// writer writes text with white space and line breaks as a reader sees them:
// runs of white space are one space, and line breaks, marks and parting lines
// are written when text follows.
type writer struct {
	b      strings.Builder
	breaks int    // before the next text
	space  bool   // before the next text, if it is on the same line
	parts  int    // lines between cells before the next text
	mark   string // before the next text, instead of the prefix
	marked bool
	prefix string // before every line
	cut    bool
}

func (w *writer) len() int { return w.b.Len() }

// since is what was written after a length.
func (w *writer) since(length int) string { return w.b.String()[length:] }

func (w *writer) full() bool { return w.cut }

// br asks for at least n line breaks before the next text, if there is text
// before. After a mark or a parting line that waits for its text there are none.
func (w *writer) br(n int) {
	if !w.marked && w.parts == 0 {
		w.breaks = max(w.breaks, n)
	}
}

// enter sets a mark for the next text and adds to what stands before every
// line. The function it returns takes both back.
func (w *writer) enter(mark, more string) (back func()) {
	prefix, waits, waiting := w.prefix, w.mark, w.marked
	switch {
	case mark != "" && w.marked:
		w.mark += mark
	case mark != "":
		w.mark, w.marked = w.prefix+mark, true
	}
	if len(w.prefix)+len(more) <= deepest {
		w.prefix += more
	}
	return func() {
		w.prefix = prefix
		if w.marked {
			w.mark, w.marked = waits, waiting
		}
	}
}

// part asks for the line between two cells before the next text.
func (w *writer) part() { w.parts++ }

// startCell begins a cell. The function it returns ends it, and takes back the
// line breaks that the cell asked for at its end.
func (w *writer) startCell() (end func()) {
	length, lines := w.b.Len(), w.breaks
	return func() {
		w.space = true
		if w.b.Len() > length {
			lines = 0
		}
		w.breaks = lines
	}
}

// write writes text, with its white space collapsed.
func (w *writer) write(text string) {
	for _, c := range text {
		switch c = kept(c); {
		case c < 0:
		case unicode.IsSpace(c):
			w.space = true
		default:
			w.lead()
			w.b.WriteRune(c)
		}
	}
	w.cut = w.cut || w.b.Len() > mostText
}

// lead writes what waits for text.
func (w *writer) lead() {
	newLine := w.b.Len() == 0
	if w.breaks > 0 && !newLine {
		w.b.WriteString("\n\n"[:min(w.breaks, 2)])
		newLine = true
	}
	switch {
	case newLine && w.marked:
		w.b.WriteString(w.mark)
	case newLine:
		w.b.WriteString(w.prefix)
	}
	switch {
	case w.parts > 0:
		parts := strings.Repeat(" |", w.parts) + " "
		if newLine {
			parts = parts[1:]
		}
		w.b.WriteString(parts)
	case w.space && !newLine:
		w.b.WriteByte(' ')
	}
	w.breaks, w.space, w.parts, w.mark, w.marked = 0, false, 0, "", false
}

// append writes directly after the last text, before what waits.
func (w *writer) append(text string) {
	w.b.WriteString(text)
	w.cut = w.cut || w.b.Len() > mostText
}

// verbatim writes lines as they are, fenced.
func (w *writer) verbatim(text string) {
	text = strings.Trim(strings.ReplaceAll(text, "\r", ""), "\n")
	if strings.TrimSpace(strings.Map(kept, text)) == "" {
		return
	}
	w.write("```")
	for line := range strings.SplitSeq(text, "\n") {
		w.b.WriteString("\n" + w.prefix + strings.Map(kept, strings.TrimRight(line, " \t")))
		if w.b.Len() > mostText {
			break
		}
	}
	w.b.WriteString("\n" + w.prefix + "```")
	w.cut = w.cut || w.b.Len() > mostText
}

// done is what was written, with a notice where it was cut.
func (w *writer) done() string {
	text := strings.TrimSpace(w.b.String())
	if !w.cut {
		return text
	}
	return strings.ToValidUTF8(text[:min(len(text), mostText)], "") + "\n\n… the page goes on and was cut here"
}

// kept is a character of text, or -1 for one that nobody sees: control
// characters, and those in which a text can be hidden from people.
func kept(c rune) rune {
	switch {
	case c == '\t', c == '\n':
		return c
	case unicode.IsControl(c):
		return ' '
	case c == '\u00AD', c == '\u200B', c == '\u2060', c == '\uFEFF', c >= 0xE0000 && c <= 0xE0FFF:
		return -1
	}
	return c
}
