package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
)

// Role is what a person may do.
type Role string

// The roles.
const (
	// Owner changes everything and manages people.
	Owner Role = "owner"
	// Member reads everything, asks, and changes their own runs.
	Member Role = "member"
	// Viewer reads everything and changes nothing.
	Viewer Role = "viewer"
)

// Roles are all roles, from the most to the least.
func Roles() []Role { return []Role{Owner, Member, Viewer} }

// ParseRole reads the word for a role.
func ParseRole(text string) (Role, error) {
	if r := Role(text); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", ErrRole
}

// Person is somebody who may log in, or could.
type Person struct {
	ID string
	// Name is who they are in every run. It is never given to another person.
	Name      string
	Role      Role
	CreatedAt time.Time
	// RemovedAt is zero for those who are still there.
	RemovedAt time.Time
}

// Session is a browser in which a person is logged in.
type Session struct {
	Hash      Hash
	Person    Person
	SeenAt    time.Time
	ExpiresAt time.Time
}

// Token is what a program logs in with as a person.
type Token struct {
	ID        string
	Hash      Hash
	Label     string
	CreatedAt time.Time
	SeenAt    time.Time
}

// Invite is a link by which one new person joins.
type Invite struct {
	ID        string
	Hash      Hash
	Role      Role
	By        string // the name of the person who invites; "" for the program at its first start
	ExpiresAt time.Time
}

// MostName and MostLabel are how many characters a name and the label of a
// token have at most.
const (
	MostName  = 100
	MostLabel = 100
)

// What is wrong with what a person wrote. The messages are shown.
var (
	ErrRole     = errors.New("the role is owner, member or viewer")
	ErrName     = fmt.Errorf("a name has 1 to %d letters, digits and ordinary signs", MostName)
	ErrReserved = errors.New("this name stands for the program itself; take another")
	ErrLabel    = fmt.Errorf("a label has 1 to %d characters", MostLabel)
)

// Name returns a name as it is kept, and the key by which it is found: two names
// that differ only in case or width have the same key.
func Name(text string) (name, key string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	if name, err = precis.Nickname.String(text); err != nil || !printable(name, MostName) {
		return "", "", ErrName
	}
	if key, err = precis.Nickname.CompareKey(name); err != nil || key == "" {
		return "", "", ErrName
	}
	if slices.Contains([]string{"local", "planner", "auto"}, key) { // authors that are no person
		return "", "", ErrReserved
	}
	return name, key, nil
}

// Label returns the label of a token as it is kept.
func Label(text string) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	if !printable(text, MostLabel) {
		return "", ErrLabel
	}
	return text, nil
}

// printable holds that a text can be seen and is not too long.
func printable(text string, most int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
