package plan

import (
	"slices"
	"strings"
	"unicode"
)

// Span is a piece of a text that was changed: it is in both texts (kept), only in
// the new one (added) or only in the old one (removed).
type Span struct {
	Text   string
	Change Change
}

// mostCompared bounds the work of [Words]: texts with more pairs of words in
// between what they begin and end with alike count as replaced whole there.
const mostCompared = 1 << 20

// Words tells two texts apart word by word. The kept and removed spans together
// are the old text, the kept and added ones the new; what was replaced comes as
// removed, then added.
func Words(old, now string) []Span {
	a, b := wordsOf(old), wordsOf(now)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var d spans
	d.add(ChangeKept, a[:head]...)
	d.compare(a[head:len(a)-tail], b[head:len(b)-tail])
	d.add(ChangeKept, a[len(a)-tail:]...)
	return d.joined()
}

// wordsOf cuts a text into words, runs of space, and single other characters.
func wordsOf(text string) []string {
	var words []string
	last := 0 // the kind of the rune before: 1 a word's, 2 space, 0 another
	for _, r := range text {
		kind := 0
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r):
			kind = 1
		case unicode.IsSpace(r):
			kind = 2
		}
		if kind == 0 || kind != last {
			words = append(words, "")
		}
		words[len(words)-1] += string(r)
		last = kind
	}
	return words
}

// spans collects what became of words, in order.
type spans []Span

func (d *spans) add(change Change, words ...string) {
	for _, w := range words {
		*d = append(*d, Span{w, change})
	}
}

// compare walks along a longest common subsequence of two lists of words.
func (d *spans) compare(a, b []string) {
	if len(a)*len(b) > mostCompared {
		d.add(ChangeRemoved, a...)
		d.add(ChangeAdded, b...)
		return
	}
	common := commonWords(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			d.add(ChangeKept, a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			d.add(ChangeRemoved, a[i])
			i++
		default:
			d.add(ChangeAdded, b[j])
			j++
		}
	}
	d.add(ChangeRemoved, a[i:]...)
	d.add(ChangeAdded, b[j:]...)
}

// commonWords says how many words the rests of two lists have in common, by
// where the rests begin.
func commonWords(a, b []string) [][]int32 {
	common := make([][]int32, len(a)+1)
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i, w := range slices.Backward(a) {
		for j, v := range slices.Backward(b) {
			if w == v {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}

// joined writes neighbours as one span, and as replaced what stands between two
// kept words: a space between two replaced words is replaced with them.
func (d spans) joined() []Span {
	var out []Span
	for i := 0; i < len(d); {
		if d[i].Change == ChangeKept && !d.bridge(i) {
			out = appendSpan(out, ChangeKept, d[i].Text)
			i++
			continue
		}
		var gone, come strings.Builder
		for ; i < len(d) && (d[i].Change != ChangeKept || d.bridge(i)); i++ {
			if d[i].Change != ChangeAdded {
				gone.WriteString(d[i].Text)
			}
			if d[i].Change != ChangeRemoved {
				come.WriteString(d[i].Text)
			}
		}
		out = appendSpan(out, ChangeRemoved, gone.String())
		out = appendSpan(out, ChangeAdded, come.String())
	}
	return out
}

// bridge says whether a kept span is mere space between two that are not.
func (d spans) bridge(i int) bool {
	return i > 0 && i < len(d)-1 && d[i-1].Change != ChangeKept && d[i+1].Change != ChangeKept && strings.TrimSpace(d[i].Text) == ""
}

func appendSpan(out []Span, change Change, text string) []Span {
	if text == "" {
		return out
	}
	if n := len(out); n > 0 && out[n-1].Change == change {
		out[n-1].Text += text
		return out
	}
	return append(out, Span{text, change})
}
