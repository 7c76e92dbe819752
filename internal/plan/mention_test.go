package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// byPattern finds references as a pattern says what they look like: slowly,
// and with nothing in common with the reader.
func byPattern(text string) (refs []Reference, spans [][2]int) {
	pattern := regexp.MustCompile(`\$\{([A-Za-z0-9_-]{1,64})((?:\.[^.{}\s]+)*)\}`)
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		ref := Reference{Step: text[m[2]:m[3]]}
		if path := text[m[4]:m[5]]; path != "" {
			ref.Path = strings.Split(path[1:], ".")
		}
		refs, spans = append(refs, ref), append(spans, [2]int{m[0], m[1]})
	}
	return refs, spans
}

// pieces are what texts with references are made of, and what looks like it.
func pieces(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"${s1}", "${s1.a.0}", "${", "$", "{", "}", ".", "s1", " ", "\n", "#", "#s1", "$s1", "{{s1}}", "{{", "}}", "é", "🎉", "\\", "\"", "&",
		strings.Repeat("x", 63), "-", "_", "1",
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
}

func TestReferencesByPattern(t *testing.T) { // BEHAVIOUR 4.2
	rapid.Check(t, func(rt *rapid.T) {
		text := pieces(rt)
		wantRefs, wantSpans := byPattern(text)
		var refs []Reference
		var spans [][2]int
		for at := 0; ; {
			ref, start, end, ok := nextReference(text, at)
			if !ok {
				break
			}
			refs, spans = append(refs, ref), append(spans, [2]int{start, end})
			at = end
		}
		if !reflect.DeepEqual(refs, wantRefs) || !reflect.DeepEqual(spans, wantSpans) {
			rt.Fatalf("%q: %v at %v, want %v at %v", text, refs, spans, wantRefs, wantSpans)
		}
		var m mention
		m.add(text)
		if !reflect.DeepEqual(m.refs, wantRefs) {
			rt.Fatalf("%q: %v, want %v", text, m.refs, wantRefs)
		}
		if begun := strings.Count(text, "${"); len(m.broken) != begun-len(wantRefs) {
			rt.Fatalf("%q: %d are broken of %d, and %d are references", text, len(m.broken), begun, len(wantRefs))
		}
		for _, ref := range refs {
			if again, n, ok := parseReference(ref.String()); !ok || n != len(ref.String()) || !reflect.DeepEqual(again, ref) {
				rt.Fatalf("%s is read as %s", ref, again)
			}
		}
	})
}

// textsOf lists the texts of a decoded value, but for keys, in any order.
func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, textsOf(e)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, e := range v {
			all = append(all, textsOf(e)...)
		}
		return all
	}
	return nil
}

func TestEveryTextButKeys(t *testing.T) { // BEHAVIOUR 4.2
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Custom(pieces)
		leaf := rapid.OneOf(text.AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
		inner := rapid.OneOf(leaf, rapid.SliceOfN(leaf, 0, 3).AsAny(), rapid.MapOfN(text, leaf, 0, 3).AsAny())
		v := rapid.OneOf(inner, rapid.SliceOfN(inner, 0, 3).AsAny(), rapid.MapOfN(text, inner, 0, 3).AsAny()).Draw(rt, "value")
		b, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(rt, "indent"))
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		eachText(b, func(text string) { got = append(got, text) })
		decoded, err := decodeValue(b)
		if err != nil {
			rt.Fatal(err)
		}
		want := textsOf(decoded)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s has the texts %q, want %q", b, got, want)
		}
	})
}

func TestWhatIsFoundIsInOrder(t *testing.T) {
	input := `{"z":"${c} #c","a":["${b.k}","{{b}} $c"],"k":{"${no}":"${a}"},"\u0022":"\u0024{d}","n":1,"e":"","s":"x"}`
	found, err := mentions(json.RawMessage(input))
	if got := fmt.Sprint(found.refs, found.broken, found.foreign, err); got != "[${c} ${b.k} ${a} ${d}] [] [{#c c} {{{b}} b} {$c c}] <nil>" {
		t.Errorf("found %s", got)
	}
}

func TestSetsOfIDs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringMatching(`[a-z]{1,2}`)
		begin := rapid.SliceOfN(id, 0, 40).Draw(rt, "begin")
		before := slices.Clone(begin)
		s, want := newIDSet(begin), map[string]bool{}
		for _, id := range begin {
			want[id] = true
		}
		for _, id := range rapid.SliceOfN(id, 0, 60).Draw(rt, "added") {
			if got := s.add(id); got == want[id] {
				rt.Fatalf("%s is new: %v, with %v", id, got, want)
			}
			want[id] = true
		}
		if !slices.Equal(begin, before) {
			rt.Fatal("the list that was given is changed")
		}
	})
}

func TestAlikeIsOnlyWhoIsAlone(t *testing.T) { // BEHAVIOUR 2.2: what is ambiguous is no guess
	long := strings.Repeat("x", 300)
	p := Plan{Steps: []Step{
		{ID: "Alpha", Instruction: "Look up"},
		{ID: "beta", Instruction: "look UP "},
		{ID: "c", Instruction: "Gamma"},
		{ID: "gamma", Instruction: "c"},
		{ID: "same", Instruction: "SAME"},
		{ID: "", Instruction: "nameless"},
		{ID: "two", Instruction: "1"},
		{ID: "two", Instruction: "2"},
		{ID: "d", Instruction: long},
	}}
	c := &checker{plan: p, graph: newGraph(p)}
	for text, want := range map[string]string{
		"ALPHA": "Alpha", " alpha\n": "Alpha", "Beta": "beta", "look up": "", "GAMMA": "", "C": "", "Same": "same", "nameless": "", "Two": "", "1": "",
		"": "", "zz": "", strings.ToUpper(long): "d", long + "y": "d",
	} {
		got := ""
		if i, ok := c.alike(text); ok {
			got = p.Steps[i].ID
		}
		if got != want {
			t.Errorf("%q is like %q, want %q", Short(text, 20), got, want)
		}
	}
}
