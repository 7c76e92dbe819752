package treesearch

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strings"
)

// loose is a JSON value that may be a number or a string.
type loose string

// errNotLoose refuses other JSON values.
var errNotLoose = errors.New("neither a number nor a string")

// UnmarshalJSON keeps the characters of a number, and the text of a string.
func (l *loose) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(l))
	}
	if !strings.ContainsRune("-0123456789", rune(data[0])) {
		return errNotLoose
	}
	*l = loose(data)
	return nil
}

// jsonMove is a proposal as a JSON object.
type jsonMove struct {
	A      loose           `json:"a"`
	Op     loose           `json:"op"`
	B      loose           `json:"b"`
	Result *loose          `json:"result"`
	Step   string          `json:"step"`
	Left   json.RawMessage `json:"left"`
}

// firstJSON returns the object or list that text holds, at its first bracket,
// with words or a fence around it.
func firstJSON(text string) (json.RawMessage, bool) {
	at := strings.IndexAny(text, "[{")
	if at < 0 {
		return nil, false
	}
	var value json.RawMessage
	err := json.NewDecoder(strings.NewReader(text[at:])).Decode(&value)
	return value, err == nil
}

// jsonClaims reads the JSON forms of [ReadProposals]. It is false when text
// holds no whole list of proposals.
func jsonClaims(text string) ([]claim, bool) {
	value, ok := firstJSON(text)
	if !ok {
		return nil, false
	}
	var list struct {
		Proposals *[]json.RawMessage `json:"proposals"`
	}
	if value[0] == '[' {
		list.Proposals = new([]json.RawMessage)
		ok = json.Unmarshal(value, list.Proposals) == nil
	} else {
		ok = json.Unmarshal(value, &list) == nil && list.Proposals != nil
	}
	if !ok {
		return nil, false
	}
	var claims []claim
	for _, item := range *list.Proposals {
		claims = append(claims, jsonClaim(item))
	}
	return claims, true
}

// jsonClaim reads one item of the list.
func jsonClaim(item json.RawMessage) claim {
	var line string
	if json.Unmarshal(item, &line) == nil {
		return lineClaim(strings.TrimSpace(line))
	}
	unreadable := claim{text: string(item), unreadable: true}
	var m jsonMove
	if json.Unmarshal(item, &m) != nil {
		return unreadable
	}
	step := strings.TrimSpace(m.Step)
	operands := step == ""
	if operands {
		step = "(" + string(m.A) + ") " + string(m.Op) + " (" + string(m.B) + ") = 0"
	}
	parts := stepLine.FindStringSubmatch(step)
	if parts == nil {
		return unreadable
	}
	c := stepClaim(parts)
	c.text = string(item)
	if operands {
		c.result = nil
	}
	ok := true
	if m.Result != nil {
		c.result, ok = readNumber(string(*m.Result))
		c.decimals = decimals(string(*m.Result))
	}
	if m.Left != nil && ok {
		c.left, ok = jsonNumbers(m.Left)
	}
	c.unreadable = c.unreadable || !ok
	return c
}

// jsonNumbers reads the numbers left: a list, or a text with them.
func jsonNumbers(data json.RawMessage) ([]*big.Rat, bool) {
	var list []loose
	var text loose
	if json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &list) != nil {
		return nil, false
	}
	for _, n := range list {
		text += " " + n
	}
	numbers, ok := readNumbers(string(text))
	return append([]*big.Rat{}, numbers...), ok
}

// The scores of a judge's words. They stand to each other as the 20, 1 and
// 0.001 of Yao et al., so that several answers add up as they do there, and
// lie from 0 to 1 as written scores do.
const (
	ScoreSure       = 1.0
	ScoreLikely     = 0.05
	ScoreImpossible = 0.00005
)

// ErrUnreadable is returned for a judge's answer that holds no judgement. What
// follows from it, asking again or giving up, is the caller's to decide.
var ErrUnreadable = errors.New(
	`the judge's answer ends in none of sure, likely and impossible, and holds no {"score": …} from 0 to 1`)

// verdictLine is a last line that is a word, perhaps after "judge:".
var verdictLine = regexp.MustCompile(`(?i)^(?:[^\pL]*[\pL ]{1,40}[:=])?[^\pL]*(sure|likely|impossible)[^\pL]*$`)

// ReadVerdict makes a verdict of the text in which a model judges a state: its
// last line is one of the words, or it holds a JSON object with a "score" from
// 0 to 1 or a "verdict" that is one of the words, and perhaps a "reason", which
// stays foreign text. Half a judgement ("not sure", "likely or impossible") is
// none. The error is [ErrUnreadable].
func ReadVerdict(text string) (Verdict, error) {
	if value, ok := firstJSON(text); ok && value[0] == '{' {
		return jsonVerdict(value)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	parts := verdictLine.FindStringSubmatch(strings.TrimSpace(lines[len(lines)-1]))
	if parts == nil {
		return Verdict{}, ErrUnreadable
	}
	return wordVerdict(parts[1])
}

// jsonVerdict reads an object. It must say one thing.
func jsonVerdict(value json.RawMessage) (Verdict, error) {
	var said struct {
		Score   *float64 `json:"score"`
		Verdict *string  `json:"verdict"`
		Reason  string   `json:"reason"`
	}
	if json.Unmarshal(value, &said) != nil || (said.Score == nil) == (said.Verdict == nil) {
		return Verdict{}, ErrUnreadable
	}
	var v Verdict
	if said.Verdict != nil {
		var err error
		if v, err = wordVerdict(strings.TrimSpace(*said.Verdict)); err != nil {
			return v, err
		}
	} else if v.Score = *said.Score; v.Score < 0 || v.Score > 1 {
		return Verdict{}, ErrUnreadable
	}
	if said.Reason != "" {
		v.Reason = shorten(said.Reason)
	}
	return v, nil
}

// wordVerdict scores a word.
func wordVerdict(word string) (Verdict, error) {
	switch word = strings.ToLower(word); word {
	case "sure":
		return Verdict{Score: ScoreSure, Reason: word}, nil
	case "likely":
		return Verdict{Score: ScoreLikely, Reason: word}, nil
	case "impossible":
		return Verdict{Score: ScoreImpossible, Reason: word}, nil
	}
	return Verdict{}, ErrUnreadable
}
