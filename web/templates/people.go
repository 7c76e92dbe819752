package templates

import "time"

// LogInProps is the page that asks who is there.
type LogInProps struct {
	Page PageProps
	Name string
	// Return is the page of this server to go to afterwards.
	Return  string
	Problem string
}

// JoinProps is the page of an invitation.
type JoinProps struct {
	Page PageProps
	// By is who invites, "" where the program asks for its first owner.
	By, Role string
	URL      string
	Name     string
	Problem  string
}

// PeopleProps is the part of the settings about who may log in, and with what.
type PeopleProps struct {
	Name, Role string
	// Passwords says that people log in with one, and not through a proxy.
	Passwords bool
	// MayManage says that the person may change People and Invites, which are
	// empty for others.
	MayManage bool
	Roles     []string
	People    []PersonProps
	Invites   []InviteProps
	Tokens    []TokenProps
	// NewLink and NewToken are shown this one time.
	NewLink, NewToken string
	// Said is what was done, and the problems say why something was not.
	Said, Problem, PasswordProblem, TokenProblem string
}

// PersonProps is somebody who may log in.
type PersonProps struct {
	ID, Name, Role     string
	Since              time.Time
	Me                 bool
	RoleURL, RemoveURL string
}

// InviteProps is a link that was not used yet.
type InviteProps struct {
	By, Role    string
	ExpiresAt   time.Time
	WithdrawURL string
}

// TokenProps is what a program logs in with, without its secret.
type TokenProps struct {
	ID, Label         string
	CreatedAt, SeenAt time.Time
	RevokeURL         string
}
