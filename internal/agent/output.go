package agent

import (
	"encoding/json"
	"errors"
	"strings"

	"planwave/internal/contract"
	"planwave/internal/looseread"
	"planwave/internal/plan"
)

// flaw is what is wrong with an output: what the model is told of it, which is
// empty when it is not asked again, and the error when it is not mended.
type flaw struct {
	told  string
	final error
}

// readResult reads a model's last word on a step. Plain text is the result as
// it is, unless a contract asks for an object.
func readResult(text string, c *plan.Contract) (plan.Result, *flaw) {
	object, plain, err := readOutput(text, c != nil)
	switch {
	case errors.Is(err, errEmpty):
		return plan.Result{}, &flaw{final: outputError(err)}
	case c != nil:
		return heldToContract(object, text, err, *c)
	case err != nil:
		return plan.Result{}, &flaw{
			told:  "Your output cannot be read: " + err.Error() + ". Answer again with one whole JSON object.",
			final: outputError(err),
		}
	case object == nil:
		return plan.Result{Text: plain}, nil
	}
	return plan.Result{Text: textOf(object), Data: object}, nil
}

// heldToContract is the result of a step with a contract. object is nil and err
// says why when there is none in the output.
func heldToContract(object json.RawMessage, text string, err error, c plan.Contract) (plan.Result, *flaw) {
	result := plan.Result{Text: strings.TrimSpace(text)}
	if object != nil {
		result = plan.Result{Text: textOf(object), Data: object}
	}
	problems := contract.Validate(object, c)
	if len(problems) == 0 {
		return result, nil
	}
	told := "Your output breaks the step's contract:\n" + strings.Join(problems, "\n")
	if err != nil {
		told += "\nIt cannot be read: " + err.Error() + "."
	}
	told += "\nAnswer again with one JSON object that keeps it."
	return plan.Result{}, &flaw{told: told, final: &ContractError{Problems: problems, Result: result}}
}

// errEmpty is an output of nothing.
var errEmpty = errors.New("it is empty")

// outputError is what people are shown of an output that cannot be used.
func outputError(err error) *plan.Error {
	switch {
	case errors.Is(err, errEmpty):
		return plan.NewError(plan.CodeModelBadResponse, "The model wrote nothing. Try again or use another model.", err)
	case errors.Is(err, looseread.ErrTruncated):
		return plan.NewError(plan.CodeOutputTruncated,
			"The model's output ends in the middle. Ask for less at once, or use a model that may write more.", err)
	}
	return plan.NewError(plan.CodeModelBadResponse,
		"The model's output cannot be read: "+err.Error()+". Try again or use another model.", err)
}

// readOutput reads what an agent wrote: an object, or plain text without
// thoughts. An object between prose is the output when it has a "result", or
// when nothing but an object will do; any other object in prose is part of a
// plain text. What was meant as an object and cannot be read is an error, and
// so is a cut-off one: it is never read as a shorter one.
func readOutput(text string, onlyObject bool) (object json.RawMessage, plain string, err error) {
	text, whole := looseread.AfterThoughts(text)
	switch {
	case !whole:
		return nil, "", looseread.ErrTruncated
	case text == "":
		return nil, "", errEmpty
	}
	raw, err := looseread.Find(text, hasResult)
	if errors.Is(err, looseread.ErrNoJSON) && (onlyObject || oneFence(text)) {
		raw, err = looseread.Find(text, isObject)
	}
	switch {
	case err == nil && isObject(raw):
		return raw, "", nil
	case err == nil, errors.Is(err, looseread.ErrNoJSON):
		return nil, text, nil
	case errors.Is(err, looseread.ErrSyntax) && text[0] != '{' && !oneFence(text):
		return nil, text, nil
	}
	return nil, "", err
}

// oneFence says whether a text is a fence and nothing else.
func oneFence(text string) bool {
	const fence = "```"
	return strings.HasPrefix(text, fence) && strings.HasSuffix(text, fence) && strings.Count(text, fence) == 2
}

func isObject(v json.RawMessage) bool { return v[0] == '{' }

// keysOf are the keys of an object as they were written; nil when it is none.
func keysOf(object json.RawMessage) map[string]json.RawMessage {
	var keys map[string]json.RawMessage
	if json.Unmarshal(object, &keys) != nil {
		return nil
	}
	return keys
}

// hasResult says whether a value is an object with the key "result".
func hasResult(v json.RawMessage) bool {
	_, has := keysOf(v)["result"]
	return has
}

// textOf is the "result" of an object in words. Without one it is the whole
// object, since something must be told to those who need the step.
func textOf(object json.RawMessage) string {
	result, has := keysOf(object)["result"]
	if !has || string(result) == "null" {
		return string(object)
	}
	if text, ok := wordsOf(result); ok {
		if strings.TrimSpace(text) == "" {
			return string(object)
		}
		return text
	}
	return string(result)
}

// wordsOf is the text that a JSON value is, if it is one.
func wordsOf(v json.RawMessage) (string, bool) {
	var text *string
	if json.Unmarshal(v, &text) != nil || text == nil {
		return "", false
	}
	return *text, true
}
