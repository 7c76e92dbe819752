package model

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"planwave/internal/plan"
)

// Names of the providers that the program knows how to set up.
const (
	Gemini = "gemini"
	OpenAI = "openai"
	// Demo is the offline demo. It is its own only model.
	Demo = "demo"
	// Replay answers with what was recorded of the run that it is asked for. It
	// is no source of models: nothing lists it, and nothing is paid for it.
	Replay = "replay"
)

// DefaultInFlight is how many requests go to one provider at the same time
// when nothing else is configured.
const DefaultInFlight = 16

// Config is what a [Registry] is set up with.
type Config struct {
	// DefaultModel is the model of every role that has none of its own. Empty
	// means the first provider's default model.
	DefaultModel string
	RoleModels   map[plan.Role]string
	// CallTimeout is how long one request may take; 0 is no limit.
	CallTimeout time.Duration
	// PerProviderInFlight is how many requests go to one provider at the same
	// time; 0 means [DefaultInFlight].
	PerProviderInFlight int
	// Retry is when failed requests are made again, by [Registry.Retry]. Its
	// MaxWait is also the longest pause that a provider is given.
	Retry RetryConfig
	// Clock is what limits and retries go by; nil is real time.
	Clock Clock
	// Prices is what models cost; nil means [BuiltinPrices].
	Prices Prices
}

// Provider is a source of models and its limits.
type Provider struct {
	Model Model
	// DefaultModel is asked when only the provider is named.
	DefaultModel string
	// InFlight is how many requests go out at the same time; 0 means what the
	// registry is configured with.
	InFlight int
	// RequestsPerMinute and TokensPerMinute are how many go out in any 60
	// seconds; 0 is no limit.
	RequestsPerMinute, TokensPerMinute int
	// Key is taken out of everything that the provider answers.
	Key string
}

// Info is what people are told of a provider.
type Info struct {
	Name string
	// DefaultModel is the whole name, provider:model, of what is asked when
	// only the provider is named.
	DefaultModel string
	InFlight     int
	// RequestsPerMinute and TokensPerMinute are limits; 0 is none.
	RequestsPerMinute, TokensPerMinute int
	Timeout                            time.Duration // of one request; 0 is no limit
}

// Registry turns provider:model into a model that can be asked. It is set up by
// [Registry.Register] and safe for concurrent use from then on.
type Registry struct {
	config    Config
	order     []string
	providers map[string]registered
}

type registered struct {
	inner   Model
	limited Model
	info    Info
}

// NewRegistry returns a registry without providers.
func NewRegistry(c Config) *Registry {
	if c.PerProviderInFlight <= 0 {
		c.PerProviderInFlight = DefaultInFlight
	}
	if c.Clock == nil {
		c.Clock = realTime{}
	}
	if c.Retry.Clock == nil {
		c.Retry.Clock = c.Clock
	}
	c.Retry = c.Retry.filled()
	if c.Prices == nil {
		c.Prices = BuiltinPrices()
	}
	return &Registry{config: c, providers: map[string]registered{}}
}

// Register adds a provider. The order of registering is the order of
// preference, except that the demo always comes last.
func (r *Registry) Register(name string, p Provider) error {
	switch _, taken := r.providers[name]; {
	case name == "" || strings.ContainsAny(name, ": \t\n"):
		return fmt.Errorf("register model provider %q: a name is not empty and has neither colons nor spaces", name)
	case taken:
		return fmt.Errorf("register model provider %q: it is there already", name)
	case p.Model == nil:
		return fmt.Errorf("register model provider %q: it has no model", name)
	}
	info := Info{
		Name: name, DefaultModel: name, InFlight: p.InFlight, Timeout: r.config.CallTimeout,
		RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute,
	}
	if p.DefaultModel != "" {
		info.DefaultModel += ":" + p.DefaultModel
	}
	if info.InFlight <= 0 {
		info.InFlight = r.config.PerProviderInFlight
	}
	r.providers[name] = registered{
		inner: p.Model, info: info,
		limited: r.limit(info)(Timeout(info.Timeout)(keyless(p.Key)(p.Model))),
	}
	at := len(r.order)
	if at > 0 && r.order[at-1] == Demo {
		at--
	}
	r.order = slices.Insert(r.order, at, name)
	return nil
}

// limit is the one limiter of a provider, for all who resolve its models.
func (r *Registry) limit(p Info) Middleware {
	return Limit(Limits{
		InFlight: p.InFlight, RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute,
		LongestPause: r.config.Retry.MaxWait, Clock: r.config.Clock,
	})
}

// Retry makes failed requests of a model again, as configured ([Retry]). Resolve
// leaves it to the caller, who may want to stand between the tries.
func (r *Registry) Retry(m Model) Model { return Retry(r.config.Retry)(m) }

// Resolve returns the model of that name, within its provider's limits, and the
// part of the name after the provider, which requests carry. A provider's name
// alone stands for its default model. The error is a [*plan.Error] that says
// what is configured and what to do.
func (r *Registry) Resolve(name string) (Model, string, error) {
	provider, model, _ := strings.Cut(strings.TrimSpace(name), ":")
	p, ok := r.providers[provider]
	if !ok {
		return nil, "", plan.NewError(plan.CodeInvalid, r.unknown(name, provider), nil)
	}
	_, preset, _ := strings.Cut(p.info.DefaultModel, ":")
	switch {
	case provider == Demo && model != "":
		return nil, "", plan.NewError(plan.CodeInvalid, fmt.Sprintf("There is no model %q. The demo is one model: write demo.", plan.Short(name, 100)), nil)
	case provider == Replay:
		return p.recorded(model)
	case model == "" && preset == "" && provider != Demo:
		return nil, "", plan.NewError(plan.CodeInvalid,
			fmt.Sprintf("The name %q stands for no model. Set PLANWAVE_MODEL to %s:NAME, or ask for that, with the name of a model that it has.", name, provider), nil)
	case model == "":
		model = preset
	}
	return p.limited, model, nil
}

// Recordings is a model that has only some names.
type Recordings interface {
	Model
	// Has returns why there is no model of that name, nil where there is one.
	Has(name string) error
}

// recorded returns the model of a recording, if it is there.
func (p registered) recorded(run string) (Model, string, error) {
	if r, ok := p.inner.(Recordings); ok {
		if err := r.Has(run); err != nil {
			return nil, "", plan.NewError(plan.CodeInvalid, "There is no model replay:"+plan.Short(run, 80)+". "+plan.AsError(err).Message, err)
		}
	}
	return p.limited, run, nil
}

// listed are the names of the providers that are sources of models, in order
// of preference.
func (r *Registry) listed() []string {
	return slices.DeleteFunc(slices.Clone(r.order), func(name string) bool { return name == Replay })
}

// unknown is what is wrong with a name whose provider is not there.
func (r *Registry) unknown(name, provider string) string {
	configured := "nothing is configured"
	if names := r.listed(); len(names) > 0 {
		configured = "configured are " + strings.Join(names, ", ")
	}
	do := "A model is named provider:model, as gemini:gemini-3.1-flash-lite, or demo."
	switch provider {
	case Gemini:
		do = "To use Gemini, set GEMINI_API_KEY and start again."
	case OpenAI:
		do = "To use OpenAI or a server like it, set OPENAI_API_KEY or OPENAI_BASE_URL and start again."
	}
	return fmt.Sprintf("There is no model %q: %s. %s", plan.Short(name, 100), configured, do)
}

// Default returns the name that a role is bound to when a run names none: the
// role's own, else the configured default, else that of the first provider.
func (r *Registry) Default(role plan.Role) string {
	if name := r.config.RoleModels[role]; name != "" {
		return name
	}
	if r.config.DefaultModel != "" {
		return r.config.DefaultModel
	}
	names := r.listed()
	if len(names) == 0 {
		return Demo
	}
	return r.providers[names[0]].info.DefaultModel
}

// Check returns what is wrong with the configured names, each with the
// variable that holds it.
func (r *Registry) Check() error {
	var errs []error
	check := func(variable, name string) {
		if name == "" {
			return
		}
		if _, _, err := r.Resolve(name); err != nil {
			errs = append(errs, fmt.Errorf("%s is wrong: %s", variable, plan.AsError(err).Message))
		}
	}
	check("PLANWAVE_MODEL", r.config.DefaultModel)
	for _, role := range plan.Roles() {
		check("PLANWAVE_MODEL_"+strings.ToUpper(string(role)), r.config.RoleModels[role])
	}
	return errors.Join(errs...)
}

// Names returns the default model of every provider, in order of preference.
func (r *Registry) Names() []string {
	var names []string
	for _, name := range r.listed() {
		names = append(names, r.providers[name].info.DefaultModel)
	}
	return names
}

// Providers returns what there is to tell of the providers, in order of
// preference.
func (r *Registry) Providers() []Info {
	var infos []Info
	for _, name := range r.listed() {
		infos = append(infos, r.providers[name].info)
	}
	return infos
}

// DemoOnly says that no language model is configured.
func (r *Registry) DemoOnly() bool {
	return !slices.ContainsFunc(r.listed(), func(name string) bool { return name != Demo })
}

// Cost returns what a usage of a model costs, nil when its price is unknown.
func (r *Registry) Cost(name string, u plan.Usage) *plan.USD {
	if provider, _, _ := strings.Cut(name, ":"); provider == Replay {
		return new(plan.USD)
	}
	if p, ok := r.providers[name]; ok {
		name = p.info.DefaultModel
	}
	return r.config.Prices.Cost(name, u)
}

// Price returns what a model takes, and whether that is known.
func (r *Registry) Price(name string) (Price, bool) {
	if p, ok := r.providers[name]; ok {
		name = p.info.DefaultModel
	}
	price, ok := r.config.Prices[name]
	return price, ok
}

// Close lets go of the providers' connections.
func (r *Registry) Close() error {
	var errs []error
	for _, name := range r.order {
		if c, ok := r.providers[name].inner.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
