// Package fetch is the tool fetch_url: the readable text of a page on the
// public internet, and no way inside.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"planwave/internal/guard"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

const (
	// Name is what the tool is called.
	Name = "fetch_url"

	mostBody      = 2 << 20 // bytes of a page, unpacked
	mostRedirects = 5
	mostURL       = 8_000 // bytes
	timeLimit     = 20 * time.Second
)

// Config is what the tool is made of. Guard is needed; the rest has defaults.
type Config struct {
	Guard *guard.Guard
	// Version and About, a web address that tells what Planwave is, make the
	// name that the tool gives itself to servers.
	Version, About string
	// Timeout is how long one call may take, redirects included: 20 seconds
	// where it is 0.
	Timeout time.Duration
	// Resolver and Roots are the machine's where they are nil.
	Resolver *net.Resolver
	Roots    *x509.CertPool
}

type fetcher struct {
	guard   *guard.Guard
	client  *http.Client
	agent   string
	timeout time.Duration
}

// New returns the tool fetch_url.
func New(c Config) tools.Tool {
	f := &fetcher{guard: c.Guard, agent: agentName(c.Version, c.About), timeout: c.Timeout}
	if f.timeout == 0 {
		f.timeout = timeLimit
	}
	o := guard.Options{Resolver: c.Resolver}
	if c.Roots != nil {
		o.TLS = &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
	}
	f.client = &http.Client{Transport: c.Guard.Transport(o), CheckRedirect: follow}
	return f
}

// agentName is how the tool names itself, with an address where people can read
// what called at their server.
func agentName(version, about string) string {
	name := "Planwave/"
	if version == "" {
		version = "dev"
	}
	name += version
	if about != "" {
		name += " (+" + about + ")"
	}
	return name
}

// Info describes the tool.
func (f *fetcher) Info() tools.Info {
	return tools.Info{
		Name: Name, ReadOnly: true,
		Description: "The readable text of a page on the public internet, or its JSON or plain text as it is.",
		Schema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string",` +
			`"description":"the whole address, as https://example.com/page"}},"required":["url"],"additionalProperties":false}`),
	}
}

// Call reads one page. What is wrong with the address, the server or the page
// is a result that says so; an address that may not be opened has the code
// [plan.CodeAddressRefused].
func (f *fetcher) Call(parent context.Context, arguments json.RawMessage) (tools.Result, error) {
	var in struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return tools.Result{}, fmt.Errorf("read the arguments: %w", err)
	}
	u, err := parse(in.URL)
	if err != nil {
		return failed("%q cannot be opened: %v.", plan.Short(in.URL, mostQuoted), err), nil
	}
	ctx, cancel := context.WithTimeout(parent, f.timeout)
	defer cancel()
	p, err := f.get(ctx, u)
	if err == nil {
		return p.result(u), nil
	}
	if parent.Err() != nil {
		return tools.Result{}, context.Cause(parent)
	}
	return f.told(err, u), nil
}

// parse reads an address as a person or a model writes it.
func parse(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if len(text) > mostURL {
		return nil, fmt.Errorf("it is longer than %d bytes", mostURL)
	}
	u, err := url.Parse(text)
	if cause, ok := errors.AsType[*url.Error](err); ok {
		err = cause.Err
	}
	if err != nil {
		return nil, fmt.Errorf("it is no web address (%w)", err)
	}
	if u.Scheme == "" || u.Host == "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil, errors.New("it is not a whole web address; write one as https://example.com/page")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// get asks for a page and reads it whole.
func (f *fetcher) get(ctx context.Context, u *url.URL) (page, error) {
	if err := f.guard.URL(u); err != nil {
		return page{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return page{}, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("User-Agent", f.agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, application/json, text/plain;q=0.9, text/*;q=0.8, */*;q=0.1")
	resp, err := f.client.Do(req)
	if err != nil {
		return page{}, err
	}
	p := page{
		url: resp.Request.URL, status: resp.StatusCode,
		kind: resp.Header.Get("Content-Type"), encoding: resp.Header.Get("Content-Encoding"),
	}
	p.body, err = read(resp)
	return p, errors.Join(err, resp.Body.Close())
}

// read reads a body, unpacked as the client does it, up to the limit.
func read(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > mostBody {
		return nil, errLarge
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBody+1))
	switch {
	case err != nil:
		return nil, &bodyError{err}
	case len(body) > mostBody:
		return nil, errLarge
	}
	return body, nil
}

// follow decides about a redirect. Whom it leads to is the guard's business.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) > mostRedirects {
		return errRedirects
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme == "http" {
		return &downgradeError{to: req.URL}
	}
	req.Header.Del("Referer") // the next server need not know the address before
	return nil
}
