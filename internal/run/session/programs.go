package session

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// lookTimeout bounds how long a host may take to look for a program.
const lookTimeout = 10 * time.Second

// checkCommands refuses a program of the user's (transport exec) without a command line,
// and a server whose program is not at the host that shall start it; in a built-in study
// that has other arms it returns a warning instead. A load generator that is missing
// makes an empty cell. A host that cannot be asked refuses nothing: the trial's record
// will say why.
func (s *site) checkCommands(ctx context.Context, kinds []Kind, builtIn bool) ([]record.Warning, error) {
	missing := map[string]bool{} // by host and program
	var warnings []record.Warning
	var problems []error
	runnable := false
	for _, k := range kinds {
		if err := emptyCommand(k.Work); err != nil {
			return nil, err
		}
		program := firstWord(k.ServerOptions["command"])
		server, _, err := s.seat(k.Work)
		if k.Server != "exec" || program == "" || err != nil || s.external() {
			runnable = true
			continue
		}
		at := server.Host.Name + " " + program
		lacks, asked := missing[at]
		if !asked {
			lacks = !hasProgram(ctx, server.Host, program)
			missing[at] = lacks
		}
		runnable = runnable || !lacks
		if asked || !lacks {
			continue
		}
		where := ""
		if len(s.hosts) > 1 {
			where = " at " + server.Host.Name
		}
		text := fmt.Sprintf("opt.server.command: there is no program %q%s; install it, or give its path", program, where)
		problems = append(problems, errors.New(text))
		warnings = append(warnings, record.Warning{About: "absent", Text: "arm " + k.Arm + ": its cells stay empty: " + text})
	}
	if !builtIn || !runnable {
		return nil, errors.Join(problems...)
	}
	return warnings, nil
}

// emptyCommand refuses an end by a command line that has none.
func emptyCommand(w study.Work) error {
	for _, end := range []struct {
		role, transport, command, example string
	}{
		{"server", w.Server, w.ServerOptions["command"], "./server --port {port}"},
		{"client", w.Client, w.ClientOptions["command"], "wrk -c {connections} -d {seconds}s http://{server}/"},
	} {
		if end.transport == "exec" && end.command == "" && w.BothOptions["command"] == "" {
			return fmt.Errorf("%s=exec starts a program of yours: opt.%s.command is empty, expected its command line, such as %q", end.role, end.role, end.example)
		}
	}
	return nil
}

// hasProgram tells whether a shell of a host finds a program, in PATH or by its path.
func hasProgram(ctx context.Context, host rig.Host, program string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	argv := host.Command("sh", "-c", `command -v -- "$0" >/dev/null || exit 127`, program)
	err := exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
	const notFound = 127
	ended := (*exec.ExitError)(nil)
	return !errors.As(err, &ended) || ended.ExitCode() != notFound
}

// firstWord is the program of a command line, as the worker of transport exec reads
// it; "" where the first word has quotes within, or a placeholder.
func firstWord(command string) string {
	command = strings.TrimLeft(command, " \t\n")
	for _, quote := range []string{`"`, `'`} {
		if quoted, ok := strings.CutPrefix(command, quote); ok {
			word, rest, closed := strings.Cut(quoted, quote)
			if !closed || rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
				return ""
			}
			command = strings.ReplaceAll(word, " ", "\x00")
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsAny(words[0], "\"'{}") {
		return ""
	}
	return strings.ReplaceAll(words[0], "\x00", " ")
}
