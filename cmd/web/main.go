// Command web serves Planwave: pages, the JSON API and live streams over one
// SQLite file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit status. 2 is a wrong setting,
// 1 a failure while starting or serving.
func run(args []string, env func(string) string, out, errOut io.Writer) int {
	if len(args) > 0 {
		if c, ok := commands()[args[0]]; ok {
			return c.run(args[0], args[1:], env, out, errOut)
		}
	}
	return serveUntilTold(args, env, out, errOut)
}

// serveUntilTold serves until the program is told to end. Told twice, it ends at
// once, which loses nothing but the calls that are being made.
func serveUntilTold(args []string, env func(string) string, out, errOut io.Writer) int {
	conf, err := readConfig(args, env, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		say(errOut, "planwave: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	logger := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: conf.LogLevel}))
	app, err := newApp(ctx, conf, logger)
	if err != nil {
		say(errOut, "planwave: %v\n", err)
		return 1
	}
	say(out, "Planwave is at %s\n", app.URL())
	if app.setUp != "" {
		say(out, "Nobody can log in yet. The first owner joins here, once, within a day: %s\n", app.setUp)
	}
	if app.demoOnly {
		say(out, "Only the offline demo model is configured. Set GEMINI_API_KEY or OPENAI_API_KEY to ask anything.\n")
	}
	err = app.Run(ctx)
	if closeErr := app.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		say(errOut, "planwave: %v\n", err)
		return 1
	}
	return 0
}

// say writes to the terminal. A terminal that is gone is no reason to stop.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}
