package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/run/session"
)

// listenFlags are the options of listen that are not part of the trial.
type listenFlags struct {
	bind        string
	length      time.Duration
	certificate string
}

func listenCommand() *cobra.Command {
	var f listenFlags
	c := &cobra.Command{
		Use:   "listen [STUDY|FILE] KEY=LEVEL… [bind=HOST:PORT]",
		Short: "Start one trial's server, metered, for clients elsewhere",
		Long: `Start the server of one trial, so that any client can drive it: netdyno run with
--rig at:HOST:PORT on another host, curl, wrk, h2load, grpcurl or your own. The
keys and levels are those of netdyno run. The server is metered as in a run and
accepts everybody who reaches the address. Ctrl-C ends it, and sums up what it did
and spent. Nothing is recorded or compared: that takes blocks, and a server that
netdyno starts.`,
		Example: `  netdyno listen transport=go-http1 bind=10.0.0.1:8080
  netdyno listen transport=go-http1 request=0B response=4MiB --bind 127.0.0.1:8080
  netdyno listen server=go-epoll placement=free --for 10s`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeStudy,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.takeBind(args, cmd.Flags().Changed("bind"))
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if f.length > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, f.length)
				defer cancel()
			}
			return listen(ctx, args, f)
		},
	}
	c.Flags().StringVar(&f.bind, "bind", "127.0.0.1:0", "address to listen on, host:port; port 0 is any free one")
	c.Flags().DurationVar(&f.length, "for", 0, "end after this long, such as 10s (0: at Ctrl-C)")
	c.Flags().StringVar(&f.certificate, "certificate", "certificate.pem", "`FILE` to write the server's certificate to, with tls=yes")
	return c
}

// takeBind takes bind=HOST:PORT out of the arguments, where users of iperf3 and
// of the publications write it.
func (f *listenFlags) takeBind(args []string, given bool) ([]string, error) {
	var rest []string
	for _, a := range args {
		address, ok := strings.CutPrefix(a, "bind=")
		switch {
		case !ok:
			rest = append(rest, a)
		case given:
			return nil, fmt.Errorf("%s: the address is given twice", a)
		default:
			f.bind, given = address, true
		}
	}
	if err := checkBind(f.bind); err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return nil, errors.New("listen: no transport is named; expected one, such as transport=go-http1")
	}
	return rest, nil
}

func checkBind(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("bind: %w; expected host:port, such as 127.0.0.1:8080", err)
	}
	return nil
}

// listen is the whole of the command.
func listen(ctx context.Context, args []string, f listenFlags) error {
	s, err := session.PrepareServer(ctx, session.ServerRequest{
		Args: args, Bind: f.bind, Certificate: f.certificate, Say: remark, Hold: ends.hold,
	})
	if err != nil {
		return err
	}
	for _, w := range s.Warnings {
		stderr.say("netdyno: %s: %s", w.About, w.Text)
	}
	shown := &standing{out: stdout, catalog: s.Catalog, arguments: args}
	worker, err := s.Serve(ctx, shown.observe)
	shown.out.clear()
	if err == nil || worker.Close != nil {
		shown.sum(worker)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return &status{statusUnmet, err}
	}
	return nil
}
