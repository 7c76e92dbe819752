// Command bench lays out the same graphs with internal/layout, graphviz dot, dagre and ELK, and prints as Markdown how their
// drawings compare. It is a module of its own, so that nothing of it is part of the program.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// settings are what the command line says.
type settings struct {
	graphs, pictures, results string
	reuse                     bool
	only, engines             *regexp.Regexp
	limit                     time.Duration
	largest                   int
}

func main() {
	// Every engine has one thread; ours would else collect garbage on another.
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse() settings {
	var s settings
	var only, engines string
	flag.StringVar(&s.graphs, "graphs", os.Getenv("PLANWAVE_GRAPHS"), "a folder with more graphs, {nodes: [{id}], edges: [[id, id]]} in each file")
	flag.StringVar(&s.pictures, "pictures", "", "a folder for pictures of some drawings")
	flag.StringVar(&s.results, "results", "", "a file for the figures of every drawing, as JSON")
	flag.BoolVar(&s.reuse, "reuse", false, "take the figures of the other engines from the file of results where it has them")
	flag.StringVar(&only, "only", ".", "which graphs, as a regular expression")
	flag.StringVar(&engines, "engines", ".", "which engines, as a regular expression")
	flag.DurationVar(&s.limit, "limit", 2*time.Minute, "how long one engine may take for one graph, with repetitions")
	flag.IntVar(&s.largest, "largest", 2000, "nodes of the largest random graphs")
	flag.Parse()
	s.only, s.engines = regexp.MustCompile(only), regexp.MustCompile(engines)
	return s
}

// result is what an engine did with a graph. When Failed is not empty the figures mean nothing.
type result struct {
	Graph, Family, Engine string
	Nodes, Edges          int
	Figures               figures
	Took                  time.Duration
	Failed                string `json:",omitempty"`
}

// run lays out all graphs and prints the tables.
func run(ctx context.Context, s settings) error {
	all, err := graphs(s)
	if err != nil {
		return err
	}
	engines := []engine{{ours, drawOurs}, {"dot", drawDot}, {"dagre", script("dagre").draw}, {"elk", script("elk").draw}}
	known, err := readResults(s)
	if err != nil {
		return err
	}
	var results []result
	for _, g := range all {
		for _, e := range engines {
			if !s.engines.MatchString(e.name) {
				continue
			}
			r, ok := known[[2]string{g.name, e.name}]
			if e.name == ours || !ok {
				r = attempt(ctx, s, g, e)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			results = append(results, r)
		}
		fmt.Fprintln(os.Stderr, progress(g, results))
		if err := writeResults(s, results); err != nil {
			return err
		}
	}
	return tables(os.Stdout, results)
}

// ours is the name of our engine.
const ours = "ours"

// graphs are those that the settings ask for.
func graphs(s settings) ([]graph, error) {
	all, err := readGraphs("testdata")
	if err != nil {
		return nil, err
	}
	if s.graphs != "" {
		more, err := readGraphs(s.graphs)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	for _, size := range []struct{ n, seeds int }{
		{10, 5}, {20, 5}, {30, 5}, {60, 5}, {100, 5}, {200, 3}, {300, 3}, {500, 2}, {1000, 1}, {2000, 1},
	} {
		if size.n <= s.largest {
			all = append(all, randomGraphs(size.n, size.seeds)...)
		}
	}
	var kept []graph
	seen := map[string]bool{}
	for _, g := range all {
		if s.only.MatchString(g.name) && !seen[g.name] {
			kept = append(kept, g)
		}
		seen[g.name] = true
	}
	return kept, nil
}

// attempt lets an engine lay out a graph, within the limit of time.
func attempt(ctx context.Context, s settings, g graph, e engine) result {
	r := result{Graph: g.name, Family: g.family, Engine: e.name, Nodes: g.n, Edges: len(g.edges)}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	d, err := e.draw(limited, g)
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		r.Failed = "over " + s.limit.String()
		return r
	}
	if err != nil {
		r.Failed = err.Error()
		return r
	}
	r.Figures, r.Took = measure(g, d), d.took
	if seen := crossings(toCentres(g, d)); e.name == ours && seen != d.own {
		r.Failed = fmt.Sprintf("says %d crossings, but the picture has %d", d.own, seen)
	}
	if s.pictures != "" && pictured(g) {
		if err := os.WriteFile(filepath.Join(s.pictures, g.name+"-"+e.name+".svg"), picture(d), 0o600); err != nil {
			r.Failed = err.Error()
		}
	}
	return r
}

// readResults reads the results of an earlier run, by graph and engine.
func readResults(s settings) (map[[2]string]result, error) {
	known := map[[2]string]result{}
	if !s.reuse {
		return known, nil
	}
	raw, err := os.ReadFile(s.results)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	var all []result
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.results, err)
	}
	for _, r := range all {
		if r.Failed == "" || strings.HasPrefix(r.Failed, "over") {
			known[[2]string{r.Graph, r.Engine}] = r
		}
	}
	return known, nil
}

// writeResults keeps the results, and those of graphs that were not asked for this time when results are reused.
func writeResults(s settings, results []result) error {
	if s.results == "" {
		return nil
	}
	known, err := readResults(s)
	if err != nil {
		return err
	}
	all := results
	for _, r := range results {
		delete(known, [2]string{r.Graph, r.Engine})
	}
	for _, r := range known {
		all = append(all, r)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(s.results, raw, 0o600)
}
