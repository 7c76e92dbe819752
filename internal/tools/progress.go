package tools

import "context"

// Progress is how far a call has got, as the tool tells it.
type Progress struct {
	// Tool is the name of the tool.
	Tool string
	// Done and Total are in a unit of the tool's choice; Total is 0 where it is
	// not known.
	Done, Total float64
	// Message is what the tool says about it, cut to a line's length.
	Message string
}

type progressKey struct{}

// OnProgress returns a context whose calls tell how far they have got, where
// they know. Tell is called before the call returns and never after it, one
// call at a time, and must not wait for anything.
func OnProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// ToldProgress returns who is to be told how far a call has got, nil where
// nobody is.
func ToldProgress(ctx context.Context) func(Progress) {
	tell, _ := ctx.Value(progressKey{}).(func(Progress))
	return tell
}
