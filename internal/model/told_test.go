package model_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"planwave/internal/model"
	"planwave/internal/plan"
)

func TestWaitsInWords(t *testing.T) { // BEHAVIOUR 11
	for detail, want := range map[string]time.Duration{
		"Please try again in 6ms.": 6 * time.Millisecond, "try again in 20s": 20 * time.Second, "Please retry in 38.123456789s.": 38123456789,
		"Retry after 2 minutes": 2 * time.Minute, "try again in 1 hour": time.Hour, "wait for 90 seconds": 90 * time.Second, "retry after 500 ms": 500 * time.Millisecond,
		"try again in 5": 0, "try again later": 0, "retry in 9999999h": 0, "try again in -3s": 0, "retry in 1e9s": 0, "": 0,
	} {
		if e := server().FromStatus(429, nil, detail, 0); e.RetryAfter != want {
			t.Errorf("%q: %s, want %s", detail, e.RetryAfter, want)
		}
	}
	if e := server().FromStatus(400, nil, "try again in 20s", 0); e.RetryAfter != 0 {
		t.Errorf("what is wrong has a wait of %s", e.RetryAfter)
	}
}

func TestConnectionsThatMayComeBack(t *testing.T) { // BEHAVIOUR 11
	get := func(err error) error { return &url.Error{Op: "Post", URL: "http://u:password@host/", Err: err} }
	for final, errs := range map[bool][]error{
		false: {
			syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
			&net.DNSError{Name: "host", IsTemporary: true}, &net.DNSError{Name: "host", IsTimeout: true}, syscall.EHOSTUNREACH,
		},
		true: {
			&net.DNSError{Name: "host", IsNotFound: true}, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			http.ErrSchemeMismatch,
		},
	} {
		for _, err := range errs {
			e := server().FromTransport(t.Context(), get(err))
			if e.Kind != model.Unreachable || e.Final != final || e.Shown().Code != plan.CodeModelUnreachable {
				t.Errorf("%v: %+v, want final %v", err, e, final)
			}
			if strings.Contains(e.Error(), "password") {
				t.Errorf("the error holds the address's password: %v", e)
			}
		}
	}
}
