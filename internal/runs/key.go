package runs

import (
	"context"

	"planwave/internal/db"
)

// keyed is where a context carries the key of the request it belongs to.
type keyed struct{}

// WithKey returns a context under which the change that a request makes is
// committed together with the request's key, so that a repeat of the request,
// also after a crash, finds that it was carried out.
func WithKey(ctx context.Context, k db.Key) context.Context {
	return context.WithValue(ctx, keyed{}, k)
}

// keyOf returns the key of the request that ctx belongs to, or nil.
func keyOf(ctx context.Context) *db.Key {
	if k, ok := ctx.Value(keyed{}).(db.Key); ok {
		return &k
	}
	return nil
}

// withoutKey returns a context under which others' changes are committed on the
// way to the request's own: neither under its key nor given up with it.
func withoutKey(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), keyed{}, nil)
}
