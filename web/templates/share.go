package templates

import "time"

// SharedProps says who gave a link out, "" for somebody without a name, and when
// it expires, zero for never.
type SharedProps struct {
	By      string
	Expires time.Time
}

// ShareProps gives out links to a run, and takes them back.
type ShareProps struct {
	URL   string
	Links []LinkProps
}

// LinkProps is a link that was given out.
type LinkProps struct {
	RevokeURL        string
	Created, Expires time.Time
	Trace            bool
}
