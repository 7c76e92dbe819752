package main

import (
	"time"

	"planwave/web/templates"
)

// bare is the page of somebody who is not logged in.
func bare(p templates.PageProps, title string) templates.PageProps {
	p.Title, p.Bare, p.Nav = title, true, ""
	return p
}

func logIn(p templates.PageProps, problem string) templates.LogInProps {
	f := templates.LogInProps{Page: bare(p, "Log in"), Return: "/runs?q=x", Problem: problem}
	if problem != "" {
		f.Name = "Ada Lovelace"
	}
	return f
}

func join(p templates.PageProps, by string) templates.JoinProps {
	f := templates.JoinProps{Page: bare(p, "Join"), By: by, Role: "member", URL: "/join/x"}
	if by == "" {
		f.Role, f.Problem, f.Name = "owner", "A password has 12 to 1000 characters, of any kind.", "olga"
	}
	return f
}

// settingsPeople are the settings as an owner sees them where people log in.
func settingsPeople(p templates.PageProps) templates.SettingsProps {
	s := settings(p)
	s.Page.Person = "Olga"
	s.People = &templates.PeopleProps{ //nolint:gosec // these are words about passwords, and none
		Name: "Olga", Role: "owner", Passwords: true, MayManage: true, Roles: []string{"owner", "member", "viewer"},
		People: []templates.PersonProps{
			{ID: "p1", Name: "Olga", Role: "owner", Since: ago(90 * 24 * time.Hour), Me: true, RoleURL: "/settings/people/p1/role", RemoveURL: "/settings/people/p1/remove"},
			{ID: "p2", Name: `<b>"Mia"</b> ` + longWord, Role: "member", Since: ago(time.Hour), RoleURL: "/settings/people/p2/role", RemoveURL: "/settings/people/p2/remove"},
		},
		Invites: []templates.InviteProps{{By: "Olga", Role: "viewer", ExpiresAt: now().Add(6 * 24 * time.Hour), WithdrawURL: "/settings/invites/i1/withdraw"}},
		Tokens: []templates.TokenProps{
			{ID: "t1", Label: "nightly", CreatedAt: ago(48 * time.Hour), SeenAt: ago(time.Hour), RevokeURL: "/settings/tokens/t1/revoke"},
			{ID: "t2", Label: "<i>tried</i>", CreatedAt: ago(time.Hour), RevokeURL: "/settings/tokens/t2/revoke"},
		},
		NewLink:         "https://planwave.example.com/join/VkkPLGomFuw4xJOrcEs-Q_rwlVWqELd4eAfxpa8zi9w",
		NewToken:        "1O-Sh4UG5R5DvrBVH5rhTPekAb_GoG6Vu5Cwak4gtHU",
		Said:            "Your password is changed, and your other browsers are logged out.",
		Problem:         "This is the last owner: make somebody else an owner first.",
		PasswordProblem: "The two passwords are not the same.",
		TokenProblem:    "A label has 1 to 100 characters.",
	}
	return s
}

// longWord is a name that no line can hold on a narrow screen.
const longWord = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaft"
