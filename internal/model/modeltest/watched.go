package modeltest

import (
	"context"
	"strings"
	"testing"

	"planwave/internal/model"
)

// Watched is a model whose answers are watched while they are written. It holds
// that what is told is the text of the response.
func Watched(t testing.TB, m model.Model) model.Model {
	return model.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		began := false
		var told strings.Builder
		req.OnText = func(piece string) {
			if piece == "" {
				began = true
				told.Reset()
			}
			told.WriteString(piece)
		}
		resp, err := m.Generate(ctx, req)
		if err == nil && (told.String() != resp.Text || !began) {
			t.Errorf("told %q (from the beginning: %v) of the text %q", told.String(), began, resp.Text)
		}
		return resp, err //nolint:wrapcheck // it is the model's own
	})
}
