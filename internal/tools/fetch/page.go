package fetch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

// mostComplaint is how much of the page that comes with an error status, in
// characters, is repeated.
const mostComplaint = 500

// page is what a server answered.
type page struct {
	url            *url.URL // after redirects
	status         int
	kind, encoding string // Content-Type, Content-Encoding
	body           []byte
}

// format is how a body is read.
type format int

const (
	formatUnknown format = iota
	formatHTML
	formatJSON
	formatText
)

// result is what the model reads of a page that asked led to.
func (p page) result(asked *url.URL) tools.Result {
	if p.status < http.StatusOK || p.status >= http.StatusMultipleChoices {
		return p.complaint()
	}
	out, err := p.read()
	switch {
	case err != nil:
		return failed("%s %v.", shown(p.url), err)
	case strings.TrimSpace(out.Text) == "":
		return failed("%s has no text. It may be a page that programs in a browser fill in; fetch another one.", shown(p.url))
	}
	if out.Data == nil && p.format() == formatHTML && p.url.String() != asked.String() {
		out.Text = fmt.Sprintf("(%s redirects to %s)\n\n%s", shown(asked), shown(p.url), out.Text)
	}
	return out
}

// complaint is the result of an answer with an error status.
func (p page) complaint() tools.Result {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", p.status, http.StatusText(p.status)))
	text := fmt.Sprintf("%s answered with the status %s.", shown(p.url), status)
	if out, err := p.read(); err == nil {
		if says := strings.TrimSpace(out.Text); says != "" {
			text += " It says: " + plan.Short(says, mostComplaint)
		}
	}
	return failed("%s", text)
}

// read turns the body into text. The error is the end of a sentence about the
// page.
func (p page) read() (tools.Result, error) {
	if p.encoding != "" && len(p.body) > 0 {
		return tools.Result{}, fmt.Errorf("is packed as %q, which cannot be unpacked here", plan.Short(p.encoding, mostQuoted))
	}
	f := p.format()
	if f == formatUnknown {
		return tools.Result{}, fmt.Errorf("is of the type %q, which cannot be read; HTML, JSON and plain text can", plan.Short(p.mediaType(), mostQuoted))
	}
	text := decoded(p.body, p.kind)
	if strings.ContainsRune(text, 0) {
		return tools.Result{}, fmt.Errorf("is not text, although its type is %q", plan.Short(p.mediaType(), mostQuoted))
	}
	switch f {
	case formatHTML:
		readable, err := readable(text, p.url)
		return tools.Result{Text: readable}, err
	case formatJSON:
		if data := []byte(text); json.Valid(data) {
			return tools.Result{Text: text, Data: data}, nil
		}
	case formatText, formatUnknown:
	}
	return tools.Result{Text: text}, nil
}

// mediaType is the type of the body: as the server says, or as it looks where
// the server does not say it.
func (p page) mediaType() string {
	kind, _, err := mime.ParseMediaType(p.kind)
	if err != nil && !strings.Contains(kind, "/") || kind == "application/octet-stream" {
		kind, _, _ = strings.Cut(http.DetectContentType(p.body), ";")
	}
	return kind
}

// format is how the body is read, by its type.
func (p page) format() format {
	kind := p.mediaType()
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		return formatHTML
	case kind == "application/json", kind == "text/json", strings.HasSuffix(kind, "+json"):
		return formatJSON
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml":
		return formatText
	}
	switch kind {
	case "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript",
		"application/x-ndjson", "application/jsonl", "application/sql", "application/x-sh", "application/x-tex":
		return formatText
	}
	return formatUnknown
}

// decoded is a body as UTF-8. What is valid UTF-8 with more than ASCII in it is
// that, whatever it claims to be: no other text looks so by chance. The rest is
// what it says it is, or what browsers take it for.
func decoded(body []byte, kind string) string {
	if bom := []byte("\xef\xbb\xbf"); bytes.HasPrefix(body, bom) {
		return strings.ToValidUTF8(string(body[len(bom):]), "\uFFFD")
	}
	if utf8.Valid(body) && bytes.ContainsFunc(body, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return string(body)
	}
	enc, _, _ := charset.DetermineEncoding(body, kind)
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\uFEFF")
}
