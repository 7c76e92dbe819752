package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"planwave/internal/looseread"
	"planwave/internal/plan"
)

// read reads the request's JSON body into v, which holds the defaults of what
// the body leaves out. The body is held to the schema of that name in the
// published document, and everything that is wrong with it is reported at once,
// by the name of the field. Content-Type is not looked at: it can only be JSON.
func (a *api) read(c echo.Context, schema string, v any) error {
	body, err := readBody(c.Request())
	if err != nil {
		return err
	}
	if err := wellFormed(body); err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return malformed("The request body cannot be read as JSON.", err)
	}
	if err := a.requests[schema].Validate(value); err != nil {
		return invalidFields(err)
	}
	return decode(body, v)
}

// readBody reads the whole body, up to the limit for all bodies.
func readBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(r.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = malformed("The request body ended before its announced length. Nothing was done; send it again.", err)
	}
	return b.Bytes(), err
}

// readOptional is read for a request that needs no body.
func (a *api) readOptional(c echo.Context, schema string, v any) error {
	if c.Request().ContentLength == 0 {
		return nil
	}
	return a.read(c, schema, v)
}

// wellFormed holds that the body is UTF-8 and exactly one JSON value, in which
// no object has a key twice.
func wellFormed(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return malformed("The request body is empty; send a JSON object.", nil)
	}
	if !utf8.Valid(body) {
		return malformed(fmt.Sprintf("The request body is not UTF-8 text: byte %d does not belong.", firstBad(body)), nil)
	}
	var raw json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		msg := "The request body is not JSON: " + err.Error()
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			msg += " (at byte " + strconv.FormatInt(e.Offset, 10) + ")"
		}
		return malformed(msg+".", err)
	}
	if key, twice := looseread.Duplicate(body); twice {
		return badRequest(key, fmt.Sprintf("The field %q is there twice; say which is meant.", plan.Short(key, 80)))
	}
	return nil
}

func malformed(message string, cause error) error {
	return plan.NewError(codeMalformed, message, cause)
}

// firstBad is the place of the first byte that is not UTF-8.
func firstBad(b []byte) int {
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return len(b)
}

// decode reads a body that keeps its schema. What a schema cannot say, as that
// a whole number fits the machine, is reported by field, too.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.TrimPrefix(e.Field, "Options.") // which is embedded, so that no request has it
		return withViolation(plan.CodeInvalid, field, fmt.Sprintf("%s is %s, which is out of range.", field, e.Value))
	}
	if err != nil {
		return withViolation(plan.CodeInvalid, "", "The request cannot be read: "+err.Error()+".")
	}
	return nil
}

// invalidFields turns what a schema says of a body into one error that names
// each field.
func invalidFields(err error) error {
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return fmt.Errorf("hold a request to its schema: %w", err)
	}
	var violations []plan.Violation
	eachLeaf(broken, func(at []string, k jsonschema.ErrorKind) {
		violations = append(violations, problemsAt(at, k)...)
	})
	slices.SortStableFunc(violations, func(a, b plan.Violation) int { return strings.Compare(a.Field, b.Field) })
	e := plan.NewError(plan.CodeInvalid, "The request is not valid: "+violations[0].Message, err)
	if more := len(violations) - 1; more > 0 {
		e.Message += fmt.Sprintf(" And %d more.", more)
	}
	e.Violations = violations
	return e
}

func eachLeaf(e *jsonschema.ValidationError, visit func([]string, jsonschema.ErrorKind)) {
	if len(e.Causes) == 0 {
		visit(e.InstanceLocation, e.ErrorKind)
	}
	for _, cause := range e.Causes {
		eachLeaf(cause, visit)
	}
}

// problemsAt says in words what is wrong at one place.
func problemsAt(at []string, k jsonschema.ErrorKind) []plan.Violation {
	one := func(at []string, format string, args ...any) plan.Violation {
		name := fieldName(at)
		return plan.Violation{
			Code: plan.CodeInvalid, Steps: []string{}, Field: name,
			Message: strings.TrimSpace(displayName(name) + " " + fmt.Sprintf(format, args...)),
		}
	}
	under := func(names []string, says string) []plan.Violation {
		var out []plan.Violation
		for _, n := range names {
			out = append(out, one(append(slices.Clone(at), n), "%s", says))
		}
		return out
	}
	switch k := k.(type) {
	case *kind.AdditionalProperties:
		return under(k.Properties, "is not a field that is known here. Remove it, or correct its name.")
	case *kind.Required:
		return under(k.Missing, "is missing.")
	case *kind.Type:
		return []plan.Violation{one(at, "is %s; it must be %s.", article(k.Got), joinTypes(k.Want))}
	case *kind.Enum:
		return []plan.Violation{one(at, "is %s; it is one of %s.", shortJSON(k.Got), joinValues(k.Want))}
	default:
		return []plan.Violation{one(at, "does not keep its rule %s; see /api/v1/openapi.json.", strings.Join(k.KeywordPath(), "/"))}
	}
}

// fieldName writes a place as plan.steps[0].id.
func fieldName(at []string) string {
	var b strings.Builder
	for _, part := range at {
		if _, err := strconv.Atoi(part); err == nil {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(plan.Short(part, 80))
	}
	return b.String()
}

func displayName(name string) string {
	if name == "" {
		return "The request body"
	}
	return name
}

func article(jsonType string) string {
	switch jsonType {
	case "null":
		return "null"
	case "object", "array", "integer":
		return "an " + jsonType
	default:
		return "a " + jsonType
	}
}

// joinTypes lists types in words, null last.
func joinTypes(types []string) string {
	var words []string
	for _, t := range types {
		if t != "null" {
			words = append(words, article(t))
		}
	}
	if len(words) < len(types) {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

func joinValues(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = shortJSON(v)
	}
	return strings.Join(words, ", ")
}

func shortJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return plan.Short(string(b), 80)
}
