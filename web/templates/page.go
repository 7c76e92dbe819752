package templates

import (
	"net/url"
	"time"

	"planwave/web/static"
)

// PageProps is what every page has.
type PageProps struct {
	// Title is the tab's title without the product's name.
	Title string
	// Path is the page's own path and query, to which the theme switch returns.
	Path string
	// Nav marks the entry of the navigation that is open: home, history,
	// settings or none.
	Nav string
	// Shared is set on a page that is seen by a link.
	Shared *SharedProps
	// Styles are stylesheets that only this page needs, as in "css/versions.css".
	Styles []string
	// Theme is light, dark or system (also when empty), from the cookie "theme".
	Theme string
	// Icon names the tab's icon; empty means idle.
	Icon string
	// Now is the server's time. Scripts learn from it how far the viewer's clock
	// is off.
	Now time.Time
	// Wide lets the page use the whole window, as a graph needs it.
	Wide bool
	// Bare leaves out the navigation, for those who are not logged in.
	Bare bool
	// Person is who is logged in, "" without log-in.
	Person string
}

// theme returns the theme in force.
func (p PageProps) theme() string {
	if p.Theme == "light" || p.Theme == "dark" {
		return p.Theme
	}
	return "system"
}

// icon returns the tab's icon in force.
func (p PageProps) icon() string {
	if p.Icon == "" {
		return "idle"
	}
	return p.Icon
}

// htmxConfig switches off what the content policy forbids, and shows every
// error page's explanation in #flash instead of losing it.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,` +
	`"attributesToSettle":[],"historyRestoreAsHxRequest":false,"refreshOnHistoryMiss":true,"historyCacheSize":0,"scrollIntoViewOnBoost":false,"responseHandling":[{"code":"204","swap":false},` +
	`{"code":"[23]..","swap":true},{"code":"[45]..","swap":true,"error":true,"target":"#flash","select":"#error","swapOverride":"innerHTML"}]}`

// ErrorPageProps is a page that says why there is no other.
type ErrorPageProps struct {
	Page   PageProps
	Status int
	// Title says what happened, as in "There is no such run".
	Title string
	// Text explains it, Lost says what happened to the person's work, and Todo
	// what to do. Each may be empty.
	Text, Lost, Todo string
	// Problems lists what is wrong with the input, one sentence each.
	Problems []string
	// Back is where to go from here; empty means the home page.
	Back, BackLabel string
	// RequestID is named so that the log's line can be found.
	RequestID string
}

// iconURL is the address of a tab's icon.
func iconURL(name string) string { return static.URL("icon/" + name + ".svg") }

// exampleURL is the home page with a question filled in.
func exampleURL(question string) string { return "/?q=" + url.QueryEscape(question) }
