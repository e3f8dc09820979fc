package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"netdyno/internal/read/follow"
	"netdyno/internal/read/serve"
	"netdyno/internal/run/session"
)

// serving is how runs are shown to browsers.
type serving struct {
	address, token string
}

func serveCommand() *cobra.Command {
	var how serving
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show runs in a browser: a list, their reports, and one that goes on as it goes on",
		Long: `Show the runs in a directory (default results/), or one run, to browsers. A run that
goes on is followed: trials done of planned, the time left, the rate, and the
figures so far with their ratios and intervals. Nothing is written, and nothing
can be started or changed from there.

It listens on this host alone, where every user can read it. With --listen it can
be reached from elsewhere, and then every browser needs a token: the one of
--token, or one that is made up and printed. The connection is not encrypted.

It runs at the lowest priority, so that it disturbs no run on the same machine.
Ctrl-C ends it.`,
		Example: `  netdyno serve
  netdyno serve results/event-loops-20260102-150405
  netdyno serve --listen :8080`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeRuns(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := session.ResultsRoot
			if len(args) > 0 {
				dir = args[0]
			}
			if err := how.run(c.Context(), dir); err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&how.address, "listen", "127.0.0.1:0", "`ADDRESS` to listen on, host:port; port 0 is any free one")
	c.Flags().StringVar(&how.token, "token", "", "`TOKEN` that browsers need, of at least 16 characters")
	return c
}

func (s serving) run(ctx context.Context, dir string) error {
	const leastToken = 16
	if s.token != "" && len(s.token) < leastToken {
		return fmt.Errorf("--token has %d characters; expected at least %d", len(s.token), leastToken)
	}
	host, _, err := net.SplitHostPort(s.address)
	if err != nil {
		return fmt.Errorf("--listen: found %q, expected host:port, such as 127.0.0.1:8080", s.address)
	}
	results, err := follow.Open(dir)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	at := listener.Addr().(*net.TCPAddr).AddrPort() //nolint:forcetypeassert // of a tcp listener
	if s.token == "" && !at.Addr().Unmap().IsLoopback() {
		s.token = rand.Text()
	}
	ends.hold() // at the least priority, streams of a busy machine take more than a moment to end
	leastPriority()
	stdout.say("serve   %s", s.url(at))
	return serve.Serve(ctx, listener, serve.Options{
		Results: results, Names: names(host), Token: s.token, Log: stderr,
	})
}

// names are the names of this host that a browser may have been given.
func names(host string) []string {
	var all []string
	if own, err := os.Hostname(); err == nil {
		all = append(all, own)
	}
	if host != "" {
		all = append(all, host)
	}
	return all
}

// url is where a browser is to go. An address that stands for all of this host's is
// said by its name.
func (s serving) url(at netip.AddrPort) string {
	host := at.Addr().Unmap().String()
	if at.Addr().IsUnspecified() {
		host = "localhost"
		if own, err := os.Hostname(); err == nil {
			host = own
		}
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(int(at.Port()))), Path: "/"}
	if s.token != "" {
		u.RawQuery = url.Values{"token": {s.token}}.Encode()
	}
	return u.String()
}

// leastPriority lets everything else on this host go first. It lowers the priority of
// every thread of the process; threads that these start later inherit it.
func leastPriority() {
	const nicest = 19
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // it only helps
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(strings.TrimSpace(t.Name())); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nicest) // it only helps
		}
	}
}
