package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is a server that is reached by HTTP. Everything that it is asked ends
// when its life ends.
type web struct {
	config ServerConfig
	home   *url.URL
	most   int
	life   context.Context //nolint:containedctx // the life of the connection, not of a call
	end    context.CancelFunc
	plain  *http.Transport
	// stream is used for the stream of notices, which begins soon or never.
	stream *http.Transport
}

func newWeb(c ServerConfig, o Options) (*web, error) {
	home, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{}
	}
	w := &web{config: c, home: home, most: o.MaxMessage, plain: base.Clone(), stream: base.Clone()}
	w.stream.ResponseHeaderTimeout = o.StartTimeout / 2
	w.life, w.end = context.WithCancel(context.Background())
	return w, nil
}

// transport speaks streamable HTTP.
func (w *web) transport() sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint: w.config.URL, HTTPClient: &http.Client{Transport: w}, MaxEventSize: w.most,
	}
}

// RoundTrip sends a request with the headers of the configuration, which no
// other host is told. A stream of notices that does not begin is answered as
// one that is not offered.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(w.life, cancel)
	done := func() { stop(); cancel() }
	req = req.Clone(ctx)
	if req.URL.Scheme == w.home.Scheme && req.URL.Host == w.home.Host {
		for name, value := range w.config.Headers {
			req.Header.Set(name, value)
		}
	}
	through := w.plain
	if req.Method == http.MethodGet {
		through = w.stream
	}
	resp, err := through.RoundTrip(req)
	if err != nil {
		defer done()
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && req.Method == http.MethodGet && ctx.Err() == nil {
			return notOffered(req), nil
		}
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, done: done, left: w.bound(resp)}
	return resp, nil
}

// notOffered is how a server says that it has no stream of notices.
func notOffered(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed", Proto: req.Proto, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// bound is how many bytes of an answer are read. A stream has no bound: each of
// its events has one.
func (w *web) bound(resp *http.Response) int {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return -1
	}
	return w.most
}

// body is what a server answers. It can be read as long as the server's life.
type body struct {
	io.ReadCloser
	done func()
	left int // bytes that may still be read; fewer than 0 is no bound
}

// Read reads on, and is an error where the answer is too long.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return b.ReadCloser.Read(p)
	}
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return 0, errors.New("it sent a message that is too long")
	}
	b.left -= n
	return n, err
}

// Close lets go of the answer.
func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}

// kill ends everything that is under way.
func (w *web) kill() { w.end() }

// stop ends everything that is under way, and lets go of the connections.
func (w *web) stop() {
	w.end()
	w.plain.CloseIdleConnections()
	w.stream.CloseIdleConnections()
}

// explain says what a person can do about an error.
func (w *web) explain(err error) error {
	for _, hint := range []struct{ sign, do string }{
		{http.StatusText(http.StatusUnauthorized), `check the key in "headers"`},
		{http.StatusText(http.StatusForbidden), `check the key in "headers"`},
		{http.StatusText(http.StatusNotFound), `check "url": it is the address of the MCP endpoint itself, often …/mcp`},
		{http.StatusText(http.StatusMethodNotAllowed), `check "url": it is the address of the MCP endpoint itself, often …/mcp`},
		{"connection refused", "start the server, or check its address"},
		{"no such host", "check its address"},
	} {
		if strings.Contains(err.Error(), hint.sign) {
			return fmt.Errorf("%w; %s", err, hint.do)
		}
	}
	return err
}
