package gemini_test

import (
	"testing"

	"go.uber.org/goleak"

	"planwave/internal/model"
	"planwave/internal/model/gemini"
	"planwave/internal/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client that is closed with the test.
func newClient(t testing.TB, url, key string) *gemini.Client {
	t.Helper()
	c, err := gemini.New(t.Context(), gemini.Config{Key: key, BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// subject is the client under test.
func subject() modeltest.Subject {
	return modeltest.Subject{
		Protocol: modeltest.Gemini,
		New:      func(t *testing.T, url, key string) model.Model { return newClient(t, url, key) },
	}
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, subject())
}
