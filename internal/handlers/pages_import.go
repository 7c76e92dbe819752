package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// importRun takes the file of an exported run in, and shows the run.
func (s *server) importRun(c echo.Context) error {
	rec, err := readRecording(c)
	if err != nil {
		return err
	}
	r, err := s.Runs.Import(c.Request().Context(), rec)
	if err != nil {
		return err
	}
	return toRun(c, r.ID, "")
}

// readRecording reads the file of a form.
func readRecording(c echo.Context) (rec runs.Recording, err error) {
	head, err := c.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return rec, badForm("file", "Choose the file of a run that was exported as JSON.")
	}
	if err != nil {
		return rec, err
	}
	file, err := head.Open()
	if err != nil {
		return rec, fmt.Errorf("open what was sent: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(file)
	if err != nil {
		return rec, fmt.Errorf("read what was sent: %w", err)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, plan.NewError(plan.CodeInvalid, fmt.Sprintf("%s is no run that was exported as JSON. Export the run again, as JSON.", plan.Short(head.Filename, 100)), err)
	}
	return rec, nil
}
