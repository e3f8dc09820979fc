// Command servers starts servers of other projects as their users start them, and asks
// each by one line of netdyno, as docs/servers.md shows.
//
//	make servers                            # installs the servers, starts and asks all of them
//	go run ./test/servers -only nginx,caddy # some of them
//
// A server that cannot be started here is named and left out. Exit status: 0 when one
// line was enough for every server that was started, 1 when it was not.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "comma-separated beginnings of the servers' names; empty for all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

// run asks the chosen servers, one after the other.
func run(ctx context.Context, only string) error {
	site, err := newSite()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(site.temp) }() // what stays behind is the system's to clear
	var failed error
	for _, s := range site.servers() {
		if !chosen(s.name, only) {
			continue
		}
		if _, err := exec.LookPath(s.needs); err != nil {
			fmt.Printf("%s: left out, there is no %s here (make servers installs what it can)\n", s.name, s.needs)
			continue
		}
		came, err := site.ask(ctx, s)
		fmt.Printf("== %s\n$ netdyno %s\n%s\n", s.name, quoted(s.typed(site.port(s))), came)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return failed
}

// quoted is a line as it is typed.
func quoted(line []string) string {
	words := make([]string, len(line))
	for i, word := range line {
		if words[i] = word; strings.ContainsAny(word, ` "{`) {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}

func chosen(name, only string) bool {
	for word := range strings.SplitSeq(only, ",") {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}

// ask starts a server, asks it by one line and ends it. The error says why one line was
// not enough.
func (s *site) ask(ctx context.Context, of server) (came string, err error) {
	port := s.port(of)
	for _, also := range of.behind {
		end, err := s.start(ctx, also(s))
		if err != nil {
			return "", err
		}
		defer end()
	}
	end, err := s.start(ctx, process{argv: of.start(port), dir: of.dir, port: port})
	if err != nil {
		return "", err
	}
	defer end()
	typed := append(of.typed(port), "--out", filepath.Join(s.temp, "run-"+port))
	out, err := exec.CommandContext(ctx, filepath.Join(s.root, "bin", "netdyno"), typed...).CombinedOutput()
	if err == nil && !bytes.Contains(out, []byte(" answered, ")) {
		err = errors.New("it printed no answer")
	}
	return strings.ReplaceAll(string(out), s.temp+"/", "results/"), err
}

// process is a server's: its program with arguments, where it runs, and the port on
// which it listens.
type process struct {
	argv      []string
	dir, port string
}

// start starts a process and waits until it listens. The process ends by end.
func (s *site) start(ctx context.Context, p process) (end func(), err error) {
	var said bytes.Buffer
	command := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	command.Dir, command.Stdout, command.Stderr = p.dir, &said, &said
	command.Env = append(os.Environ(), "NODE_ENV=production", "NODE_PATH="+filepath.Join(s.tools, "node_modules"))
	if err := command.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = command.Process.Signal(os.Interrupt) // one with children of its own ends them
		kill := time.AfterFunc(5*time.Second, func() { _ = command.Process.Kill() })
		_ = command.Wait() // it was told to end, however it calls that
		kill.Stop()
	}
	const timeout = 30 * time.Second
	for until := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err == nil {
			return end, conn.Close()
		}
		if time.Now().After(until) || ctx.Err() != nil {
			end()
			return nil, fmt.Errorf("%s does not listen on port %s within %v: %s", p.argv[0], p.port, timeout, said.String())
		}
	}
}
