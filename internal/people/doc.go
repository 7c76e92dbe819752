// Package people is who may log in: names, roles, passwords, the secrets that
// sessions, invitations and programs carry, and how often a log-in may be
// tried. It knows no SQL and no HTTP.
package people
