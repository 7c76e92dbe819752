package templates

import "time"

// SettingsProps is the page that shows what is configured and whether it works.
type SettingsProps struct {
	Page      PageProps
	Roles     []RoleProps
	Providers []ProviderProps
	Servers   []ServerProps
	Tools     []ToolProps
	// Limits are what is in force where a run says nothing else.
	Limits  []Field
	Days    []DayProps
	Storage []Field
	// People is who may log in, and with what; nil without log-in.
	People *PeopleProps
}

// RoleProps is the model that plays a role.
type RoleProps struct{ Role, Model string }

// ProviderProps is a provider of models, never with its key.
type ProviderProps struct {
	Name, Model string
	Demo        bool
	// Limits say what is let through to it, Price what it takes.
	Limits, Price string
	// TestURL is where its model is tried out; Tested is what came of it.
	TestURL string
	Tested  TestedProps
}

// TestedProps is what came of trying a model out, #tested-NAME. The zero value
// says that it was not tried.
type TestedProps struct {
	ID          string // of the element
	OK          bool
	Title, Text string
	Todo        string
}

// ServerProps is a server of tools.
type ServerProps struct {
	Name, Software string
	// Phase is connecting, connected or failed, and Why says what is wrong and
	// what to do.
	Phase, Why  string
	Remote      bool
	Tools       int
	Problems    []string
	Since, Next time.Time
}

// ToolProps is what executors can call.
type ToolProps struct {
	Name, Description, Schema string
	ReadOnly                  bool
}

// DayProps is what was used on one day.
type DayProps struct{ Date, Calls, Tokens, Cost string }

// look is how the state of a server looks.
func (s ServerProps) look() look {
	switch s.Phase {
	case "connected":
		return look{Icon: "succeeded", Word: "connected", Tone: "succeeded"}
	case "failed":
		return look{Icon: "failed", Word: "failed", Tone: "failed"}
	}
	return look{Icon: "running", Word: "connecting", Tone: "running"}
}
