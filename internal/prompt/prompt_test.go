package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"planwave/internal/prompt"
)

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderReplacesPrompts(t *testing.T) { // BEHAVIOUR 2.6
	set, err := prompt.Load(folder(t, map[string]string{"executor.txt": "  Be brief. {{.Tools}}\n", "README.md": "notes"}))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"Tools": true, "Instructions": "", "Contract": false}
	if got, err := set.Fill(prompt.Executor, values); err != nil || got != "Be brief. true" {
		t.Errorf("%q, %v", got, err)
	}
	was, err := (*prompt.Set)(nil).Fill(prompt.Synthesizer, values)
	if err != nil || was == "" {
		t.Fatalf("%q, %v", was, err)
	}
	if got, err := set.Fill(prompt.Synthesizer, values); err != nil || got != was {
		t.Errorf("a prompt that is not replaced: %q, %v", got, err)
	}
	if was, err = (*prompt.Set)(nil).Fill(prompt.Executor, values); err != nil || strings.Contains(was, "Be brief") {
		t.Errorf("the built-in prompt changed: %q, %v", was, err)
	}
}

func TestFoldersThatCannotBe(t *testing.T) { // BEHAVIOUR 2.6, 11
	for want, dir := range map[string]string{
		"no such file":            filepath.Join(t.TempDir(), "nothing"),
		"the prompts are planner": folder(t, map[string]string{"planer.txt": "x"}),
		"read the prompt planner": folder(t, map[string]string{"planner.txt": "{{if"}),
	} {
		if _, err := prompt.Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	set, err := prompt.Load(folder(t, map[string]string{"planner.txt": "{{.Nothing.Here}}"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Fill(prompt.Planner, struct{ MaxSteps int }{6}); err == nil || !strings.Contains(err.Error(), "Nothing") {
		t.Errorf("a value that is not there: %v", err)
	}
}
