package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"planwave/internal/runs"
)

// sampleFiles are runs of the demo model that this program made and exported,
// so that the history of a new installation is not empty. "go test ./cmd/web
// -run TestSamples -update" makes them again.
//
//go:embed samples/*.json
var sampleFiles embed.FS

// samples reads the recordings that come with the program.
func samples() (all []runs.Recording, err error) {
	names, err := fs.Glob(sampleFiles, "samples/*.json")
	if err != nil {
		return nil, fmt.Errorf("list the samples: %w", err)
	}
	for _, name := range names {
		b, err := sampleFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		var rec runs.Recording
		if err := json.Unmarshal(b, &rec); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, rec)
	}
	return all, nil
}

// takeSamples puts the recordings into the history. Without them the program
// works as well.
func (a *app) takeSamples(ctx context.Context) {
	all, err := samples()
	for _, rec := range all {
		if err == nil {
			_, err = a.runs.Import(ctx, rec)
		}
	}
	if err != nil {
		a.runs.Logger.ErrorContext(ctx, "take up the recorded samples", "error", err)
	}
}
