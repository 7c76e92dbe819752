package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"planwave/internal/db"
)

// command is something that the program does instead of serving.
type command struct {
	help string
	// do does it to the database, and says what came of it.
	do func(ctx context.Context, database, file string) (string, error)
}

// commands are the commands by name. Each takes one file.
func commands() map[string]command {
	return map[string]command{
		"backup":  {"writes a copy of the database to FILE, which is not there yet, while the program serves", backUp},
		"restore": {"puts the backup in FILE in the place of the database, and keeps what was there; the program must not serve meanwhile", restore},
	}
}

// run reads the command's line and carries it out. It returns the exit status,
// as the whole program does.
func (c command) run(name string, args []string, env func(string) string, out, errOut io.Writer) int {
	var conf config
	flags := flag.NewFlagSet("planwave "+name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	for _, s := range conf.list() {
		if s.flag == "db" {
			preset := s.preset
			if v := env(s.env); v != "" {
				preset = v
			}
			flags.StringVar(&conf.DB, s.flag, preset, s.help+" ["+s.env+"]")
		}
	}
	flags.Usage = func() {
		say(errOut, "planwave %s [-db FILE] FILE\n%s\n", name, c.help)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() != 1 || flags.Arg(0) == "":
		say(errOut, "planwave: %s takes one file after its flags: planwave %s -db %s FILE\n", name, name, conf.DB)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	said, err := c.do(ctx, conf.DB, flags.Arg(0))
	if err != nil {
		say(errOut, "planwave: %v\n", err)
		return 1
	}
	say(out, "%s\n", said)
	return 0
}

func backUp(ctx context.Context, database, file string) (string, error) {
	if err := db.BackUp(ctx, database, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("The database %s is copied to %s.", database, file), nil
}

func restore(ctx context.Context, database, file string) (string, error) {
	r, err := db.Restore(ctx, database, file, time.Now())
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("The database %s is that of %s now, with %d runs.", database, file, r.Runs)
	if r.Kept != "" {
		said += fmt.Sprintf(" What was there before is %s.", r.Kept)
	}
	return said, nil
}
