package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"planwave/internal/db"
	"planwave/internal/guard"
	"planwave/internal/handlers"
	"planwave/internal/people"
)

// setUpLasts is how long the link for the first owner can be used. Every start
// makes a new one until there is an owner.
const setUpLasts = 24 * time.Hour

// checkAccess reads who is let in, and where from.
func (c *config) checkAccess(wrong func(name, value, want string)) {
	c.Access.Auth = handlers.Auth(c.auth)
	switch c.Access.Auth {
	case handlers.AuthOff, handlers.AuthPassword, handlers.AuthHeader:
	default:
		wrong("PLANWAVE_AUTH", c.auth, "it is off, password or header")
		return // what follows depends on it
	}
	var err error
	if c.Access.Proxies, err = guard.ParseAllow(c.proxies); err != nil {
		wrong("PLANWAVE_AUTH_PROXIES", c.proxies, err.Error())
	}
	if c.baseURL != "" {
		if c.Access.BaseURL, err = readBaseURL(c.baseURL); err != nil {
			wrong("PLANWAVE_BASE_URL", c.baseURL, err.Error())
		}
	}
	c.checkHeader(wrong)
	onLoopback, err := loopback(c.Addr)
	switch {
	case err != nil:
		wrong("PLANWAVE_ADDR", c.Addr, err.Error())
	case c.Access.Auth == handlers.AuthOff && !onLoopback:
		wrong("PLANWAVE_ADDR", c.Addr, "without log-in Planwave listens on loopback only (127.0.0.1, ::1 or localhost); PLANWAVE_AUTH=password or header lets people log in")
	case c.Access.Auth == handlers.AuthOff && c.baseURL != "":
		wrong("PLANWAVE_BASE_URL", c.baseURL, "without log-in Planwave answers to loopback only; PLANWAVE_AUTH=password or header lets people log in")
	case !onLoopback && c.baseURL == "":
		wrong("PLANWAVE_BASE_URL", c.baseURL, "it must say under which address browsers find a server that listens beyond loopback, as https://planwave.example.com")
	}
}

// checkHeader holds that a header that says who is there is named, and only then.
func (c *config) checkHeader(wrong func(name, value, want string)) {
	if c.Access.Auth != handlers.AuthHeader {
		if c.Access.Header != "" {
			wrong("PLANWAVE_AUTH_HEADER", c.Access.Header, "it means something with PLANWAVE_AUTH=header only")
		}
		return
	}
	switch name := textproto.CanonicalMIMEHeaderKey(c.Access.Header); name {
	case "", "Authorization", "Cookie", "Host", "X-Forwarded-For":
		wrong("PLANWAVE_AUTH_HEADER", c.Access.Header, "it must name the header in which the proxy names the person, as X-Remote-User")
	}
	if c.proxies == "" {
		wrong("PLANWAVE_AUTH_PROXIES", c.proxies, "it must name the proxies that are believed, as 127.0.0.1")
	}
}

// readBaseURL reads an address without a path: the server is at its root.
func readBaseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Path != "" && u.Path != "/" {
		return nil, errors.New("it must be http or https and a host, without a path, as https://planwave.example.com")
	}
	u.Host, u.Path = strings.ToLower(u.Host), ""
	return u, nil
}

// loopback says whether nobody else can reach the address.
func loopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, errors.New("it must be host:port, as 127.0.0.1:8080")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// setUpLink makes the link with which the first owner joins, "" when there is an owner
// or none is needed.
func setUpLink(ctx context.Context, c config, store *db.DB, base string, logger *slog.Logger) (string, error) {
	if c.Access.Auth != handlers.AuthPassword {
		return "", nil
	}
	if has, err := store.HasOwner(ctx); err != nil || has {
		return "", err
	}
	secret := people.NewSecret()
	i := people.Invite{ID: newID(), Hash: people.HashOf(secret), Role: people.Owner, ExpiresAt: time.Now().Add(setUpLasts)}
	if err := store.AddInvite(ctx, i, ""); err != nil {
		return "", fmt.Errorf("make the link for the first owner: %w", err)
	}
	link := handlers.JoinURL(base, secret)
	logger.InfoContext(ctx, "nobody is an owner yet; the first joins by this link, once, within a day", "url", link)
	return link, nil
}
