package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"

	"planwave/internal/guard"
	"planwave/internal/plan"
	"planwave/internal/tools"
)

// mostQuoted is how much of an address, in characters, an error repeats.
const mostQuoted = 200

var (
	errLarge     = errors.New("the page is too large")
	errRedirects = errors.New("too many redirects")
)

// bodyError is an answer that began and could not be read to its end.
type bodyError struct{ cause error }

func (e *bodyError) Error() string { return "read the body: " + e.cause.Error() }
func (e *bodyError) Unwrap() error { return e.cause }

// downgradeError is a redirect from https to http.
type downgradeError struct{ to *url.URL }

func (e *downgradeError) Error() string { return "it redirects from https to http" }

func failed(format string, args ...any) tools.Result {
	return tools.Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// told says in words why a page could not be read.
func (f *fetcher) told(err error, asked *url.URL) tools.Result {
	if refused, ok := errors.AsType[*guard.RefusedError](err); ok {
		return refusal(refused, redirected(err, asked), asked)
	}
	where := shown(asked)
	if down, ok := errors.AsType[*downgradeError](err); ok {
		return failed("%s redirects to %s, which is not encrypted, so it was not followed. Fetch that address if it is what you want.",
			where, shown(down.to))
	}
	switch {
	case errors.Is(err, errLarge):
		return failed("%s is larger than %d MiB, which is the most that is read. Fetch a page with less on it.", where, mostBody>>20)
	case errors.Is(err, errRedirects):
		return failed("%s redirects more than %d times. Fetch another address.", where, mostRedirects)
	case errors.Is(err, context.DeadlineExceeded):
		return failed("%s did not answer in time; a page has to be read within %v. Try another source.", where, f.timeout)
	}
	return failed("%s", trouble(err, where, asked))
}

// refusal says that an address may not be opened, and why. It does not say
// where a name leads: what a network inside looks like is not for a model.
func refusal(e *guard.RefusedError, redirected bool, asked *url.URL) tools.Result {
	text := fmt.Sprintf("%q %s.", plan.Short(e.Host, mostQuoted), e.Why)
	if e.ByName() {
		text = fmt.Sprintf("%q leads to what %s.", plan.Short(e.Host, mostQuoted), e.Why)
	}
	if redirected {
		text = fmt.Sprintf("%s redirects to an address that is not opened: %s", shown(asked), text)
	}
	out := failed("%s Only pages on the public internet are opened, unless the operator allows the address (PLANWAVE_FETCH_ALLOW).", text)
	out.Code = plan.CodeAddressRefused
	return out
}

// redirected says whether it was on the way, not at once, that a request failed.
func redirected(err error, asked *url.URL) bool {
	at, ok := errors.AsType[*url.Error](err)
	return ok && at.URL != asked.String()
}

// trouble says what is wrong with a server.
func trouble(err error, where string, asked *url.URL) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return fmt.Sprintf("There is no host %q. Check the address.", plan.Short(dns.Name, mostQuoted))
		}
		return fmt.Sprintf("The host %q could not be looked up. Try again later.", plan.Short(dns.Name, mostQuoted))
	}
	if cert, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Sprintf("The certificate of %q is not valid, so it was not read: %v.", asked.Hostname(), cert.Err)
	}
	if body, ok := errors.AsType[*bodyError](err); ok {
		return fmt.Sprintf("%s broke off or sent what cannot be unpacked: %v.", where, body.cause)
	}
	if cause, ok := errors.AsType[*url.Error](err); ok {
		err = cause.Err
	}
	return fmt.Sprintf("%s could not be reached: %v.", where, err)
}

// shown is an address for a message.
func shown(u *url.URL) string { return plan.Short(u.String(), mostQuoted) }
