// Package prompt holds what the agents are told: text templates that are built
// in, any of which a file in a folder may replace.
package prompt

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// The prompts there are. A file that replaces one has its name with .txt.
const (
	Planner     = "planner"
	Executor    = "executor"
	Synthesizer = "synthesizer"
)

//go:embed *.txt
var files embed.FS

// builtIn are the prompts as they come with the program.
var builtIn = template.Must(template.ParseFS(files, "*.txt"))

// Set is a prompt for every agent. The nil Set has those that are built in.
type Set struct{ all *template.Template }

// Load returns the built-in prompts with those replaced that the folder has a
// file for. A file that replaces nothing is an error, since its writer meant it
// to.
func Load(folder string) (*Set, error) {
	found, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the prompts in %s: %w", folder, err)
	}
	all, err := builtIn.Clone()
	if err != nil {
		return nil, fmt.Errorf("copy the built-in prompts: %w", err)
	}
	for _, f := range found {
		if f.IsDir() || filepath.Ext(f.Name()) != ".txt" {
			continue
		}
		if builtIn.Lookup(f.Name()) == nil {
			return nil, fmt.Errorf("read the prompts in %s: %s replaces nothing; the prompts are planner.txt, executor.txt and synthesizer.txt", folder, f.Name())
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name())) //nolint:gosec // the operator names the folder
		if err != nil {
			return nil, fmt.Errorf("read the prompt %s: %w", f.Name(), err)
		}
		if _, err := all.New(f.Name()).Parse(string(text)); err != nil {
			return nil, fmt.Errorf("read the prompt %s in %s: %w", f.Name(), folder, err)
		}
	}
	return &Set{all: all}, nil
}

// Fill returns a prompt with the values of this request in it.
func (s *Set) Fill(name string, values any) (string, error) {
	all := builtIn
	if s != nil {
		all = s.all
	}
	var out strings.Builder
	if err := all.ExecuteTemplate(&out, name+".txt", values); err != nil {
		return "", fmt.Errorf("fill in the prompt %s: %w", name, err)
	}
	return strings.TrimSpace(out.String()), nil
}
