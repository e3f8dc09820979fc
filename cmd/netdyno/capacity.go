package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/run/session"
	"netdyno/internal/run/study/source"
)

// capacityFlags are the options of capacity that are not those of run.
type capacityFlags struct{ objective, time, within string }

func capacityCommand() *cobra.Command {
	var f runFlags
	var s capacityFlags
	c := &cobra.Command{
		Use:   "capacity URL…|TRANSPORT|STUDY [KEY=LEVEL…]",
		Short: "Find the highest rate that a server carries while it meets an objective",
		Long: `Find the highest rate of exchanges, offered on a schedule whatever the server does,
at which it still meets an objective: response_p99 <= 10ms if you name none. Response
times count from when a request was due, so a server that falls behind cannot hide it.

Every arm first runs flat out, which bounds its rate. Then each window runs at the
rate that tells most, by all windows before it, until the rate is known within 10 % or
the arm's windows took 60 s. Several URLs or arms take turns, window by window. The
answer has an interval, names what limits each arm at its capacity and what would
raise it. What the windows do not decide is said to be undecided, with the reason and
what would decide it.

KEY=LEVEL is as in netdyno run, but for rate, which is what is looked for. A study
file says the same under capacity: (netdyno run FILE then searches, too).`,
		Example: `  netdyno capacity http://127.0.0.1:8080/ --objective 'response_p99 <= 10ms, error_share <= 0.1%'
  netdyno capacity http://127.0.0.1:8080/ http://127.0.0.1:8081/ -c 100
  netdyno capacity transport=go-http1,go-grpc response=1KiB --time 30s
  netdyno capacity go-http1 --objective 'response_p999 <= 50ms' --within 5% --rig ssh:HOST,HOST`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeStudy,
		RunE: func(cmd *cobra.Command, args []string) error {
			urls, others := splitURLs(args)
			if t := f.url; t.rate != "" || t.duration != "" || t.number != "" {
				return fmt.Errorf("--rate, --duration and --number contradict a search for the rate; --time says how long it may take for each arm")
			}
			if len(urls) == 0 {
				if err := needURL(cmd.Flags(), args); err != nil {
					return err
				}
			}
			f.url.searches = true
			f.typed = append([]string{"capacity"}, typedAfter(os.Args, "capacity")...)
			f.set = s.keys(others, len(urls) > 0)
			return run(cmd.Context(), args, f)
		},
	}
	c.Flags().StringVar(&s.objective, "objective", "", "conditions that a window must meet, joined by commas (default response_p99 <= 10ms)")
	c.Flags().StringVar(&s.time, "time", "", "how long the trials of each arm may take (default 60s)")
	c.Flags().StringVar(&s.within, "within", "", "how wide the interval may be, as a share of the rate (default 10%)")
	f.declare(c)
	f.addRequest(c)
	return c
}

// Windows of a search whose study has none of its own: as short as a search may begin
// with, because it lengthens them where it needs to.
const searchWindow, searchWarmup, searchConnections = "1s", "200ms", "50"

// keys are what the flags say of a study, and windows where no study has any.
func (s capacityFlags) keys(args []string, url bool) []session.Set {
	p := looked{typed: args, set: []session.Set{{By: "netdyno capacity", Key: "capacity", Value: "yes"}}}
	for _, flag := range []struct{ name, value string }{
		{"objective", s.objective}, {"time", s.time}, {"within", s.within},
	} {
		if flag.value != "" {
			p.set = append(p.set, session.Set{By: "--" + flag.name, Key: "capacity." + flag.name, Value: flag.value})
		}
	}
	if !url && len(args) > 0 && !strings.Contains(args[0], "=") && (slices.Contains(source.List(), args[0]) || strings.ContainsAny(args[0], `./\`)) {
		return p.set // the study has windows
	}
	p.lack("window", searchWindow)
	p.lack("warmup", searchWarmup)
	return p.set
}
