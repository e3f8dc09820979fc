package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/sizes"
)

// forecastFlags say which load is forecast, as they were typed.
type forecastFlags struct {
	link, message, other, direction, rate, connections, memory, roundTrip string
	hosts, clients, cores                                                 int
	from, arms                                                            []string
	asJSON                                                                bool
}

// latestRun is the value of --from for the newest run of costs under results/.
const latestRun = "latest"

func forecastCommand() *cobra.Command {
	var f forecastFlags
	c := &cobra.Command{
		Use:   "plan --message SIZE [--rate RATE] [--link RATE] [--hosts N]",
		Short: "Say what a load will need, from the costs that netdyno cost measured",
		Long: `Say what a load will need with each transport of a run of netdyno cost: cores and
memory of each host at both ends, connections, the share of the link, what is full
first, and how the transports compare.

Without --rate the load is what fills the link. What no measured cell reached is
marked as extrapolated. Where the model of one end is refused, the other is forecast
alone.`,
		Example: `  netdyno cost plan --link 100Gbit --message 1MiB --hosts 1 --cores 32
  netdyno cost plan --link 100Gbit --message 64KiB --rate 200k --hosts 10
  netdyno cost plan --message homa-w3 --rate 20k
  netdyno cost plan --message 4KiB --direction up --rate 50k --connections 10k --json
  netdyno cost plan --message 64KiB --rate 1k --from results/cost-20260102-150405`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return forecast(f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.message, "message", "", "size of the message in --direction, or how sizes are distributed: homa-w3, choice:90%:1KiB,10%:64KiB")
	flags.StringVar(&f.direction, "direction", "down", "where the message goes: down (to the client), up, both")
	flags.StringVar(&f.other, "other", "", "size of the message in the other direction (default the least that was measured)")
	flags.StringVar(&f.rate, "rate", "", "exchanges per second over all hosts (default what fills the link)")
	flags.StringVar(&f.link, "link", "", "the link of each host")
	flags.IntVar(&f.hosts, "hosts", 1, "servers")
	flags.IntVar(&f.clients, "clients", 0, "clients (default as many as servers)")
	flags.StringVar(&f.connections, "connections", "", "connections over all hosts (default as few as carry the rate and were measured)")
	flags.IntVar(&f.cores, "cores", 0, "cores of each host (default those of the measured one)")
	flags.StringVar(&f.memory, "memory", "", "memory of each host")
	flags.StringVar(&f.roundTrip, "rtt", "", "round trip of the network")
	flags.StringSliceVar(&f.from, "from", []string{latestRun}, "directories of the runs that measured the costs")
	flags.StringSliceVar(&f.arms, "transport", nil, "only these transports")
	flags.BoolVar(&f.asJSON, "json", false, "print the forecast as JSON")
	_ = c.MarkFlagRequired("message") // it exists
	completeFlags(c, map[string]cobra.CompletionFunc{
		"from": completeDirectories, "transport": completeTransport,
		"direction": cobra.FixedCompletions([]string{"down", "up", "both"}, cobra.ShellCompDirectiveNoFileComp),
	})
	return c
}

func forecast(f forecastFlags) error {
	load, err := f.load()
	if err != nil {
		return err
	}
	runs, cores, err := costsOf(f.from)
	if err != nil {
		return err
	}
	if load.Cores == 0 {
		load.Cores = cores
	}
	all := cost.ForecastOf(runs, load, f.arms)
	if f.asJSON {
		err = showJSON(all)
	} else {
		err = showText(func(w io.Writer, o report.TextOptions) error {
			return report.ForecastText(w, all, strings.Join(slices.Sorted(maps.Keys(runs)), ", "), o)
		})
	}
	switch {
	case err != nil:
		return err
	case len(all.Choices) == 0:
		return &status{statusUnmet, fmt.Errorf("no transport of these runs has a model of the CPU of either end; netdyno report --full DIR says why")}
	case !all.Whole():
		return &status{statusUnmet, nil}
	}
	return nil
}

// load reads the flags.
func (f forecastFlags) load() (n cost.Load, err error) {
	size := func(flag, text string, into *float64) {
		if text == "" || err != nil {
			return
		}
		bytes, bad := quantity.ParseBytes(text)
		if bad != nil {
			err = fmt.Errorf("--%s: %w", flag, bad)
		}
		*into = float64(bytes)
	}
	var message, other float64
	of, spread := map[string]contract.Table{}, []string{}
	sized := func(flag, text string, into *float64) {
		if !sizes.Is(text) {
			size(flag, text, into)
			return
		}
		s, bad := sizes.Parse(text)
		if bad != nil {
			err = cmp.Or(err, fmt.Errorf("--%s: %w", flag, bad))
			return
		}
		of[flag], *into = s.Table, s.Mean()
		spread = append(spread, s.Text)
	}
	sized("message", f.message, &message)
	sized("other", f.other, &other)
	size("memory", f.memory, &n.Memory)
	if err != nil {
		return n, err
	}
	switch f.direction {
	case "down":
		n.Up, n.Down = other, message
	case "up":
		n.Up, n.Down = message, other
	case "both":
		n.Up, n.Down = message, message
	default:
		return n, fmt.Errorf("--direction: found %q; %s", quantity.Clip(f.direction, 40), quantity.Hint(f.direction, []string{"down", "up", "both"}))
	}
	n.Spread, n.Sizes = strings.Join(spread, ", "), byFactor(f.direction, of)
	if err := f.hostsOf(&n); err != nil {
		return n, err
	}
	return n, f.loadOf(&n)
}

// byFactor gives the tables of flags to the factors that their messages are; nil for none.
func byFactor(direction string, of map[string]contract.Table) map[string]contract.Table {
	if len(of) == 0 {
		return nil
	}
	all := map[string]contract.Table{}
	for flag, table := range of {
		up := (flag == "message") == (direction != "down")
		if up {
			all["request"] = table
		}
		if !up || direction == "both" {
			all["response"] = table
		}
	}
	return all
}

// hostsOf reads how many hosts there are, and what each has.
func (f forecastFlags) hostsOf(n *cost.Load) error {
	const most = 1e6
	n.Servers, n.Clients, n.Cores = f.hosts, f.clients, float64(f.cores)
	if n.Clients == 0 {
		n.Clients = n.Servers
	}
	if n.Servers < 1 || n.Clients < 1 || n.Servers > most || n.Clients > most || f.cores < 0 {
		return fmt.Errorf("--hosts, --clients: found %d servers and %d clients with %d cores each; expected 1 host or more at each end", n.Servers, n.Clients, f.cores)
	}
	if f.link != "" {
		bits, err := quantity.ParseBitRate(f.link)
		if err != nil {
			return fmt.Errorf("--link: %w", err)
		}
		n.Link = float64(bits) / 8
	}
	return nil
}

// loadOf reads the rate and the connections.
func (f forecastFlags) loadOf(n *cost.Load) error {
	if f.connections != "" {
		count, err := quantity.ParseCount(f.connections)
		if err != nil || count < 1 {
			return fmt.Errorf("--connections: found %q; expected a number such as 1000 or 10k", quantity.Clip(f.connections, 40))
		}
		n.Connections = float64(count)
	}
	if f.roundTrip != "" {
		d, err := quantity.ParseDuration(f.roundTrip)
		if err != nil {
			return fmt.Errorf("--rtt: %w", err)
		}
		n.RoundTrip = d.Seconds()
	}
	switch {
	case f.rate != "":
		rate, err := quantity.ParseRate(f.rate)
		if err != nil || !(rate > 0) {
			return fmt.Errorf("--rate: found %q; expected exchanges per second, such as 200k", quantity.Clip(f.rate, 40))
		}
		n.Rate = rate
	case n.Link > 0:
		n.Rate = n.FullRate()
	default:
		return fmt.Errorf("plan: neither --rate nor --link is given; expected one of them")
	}
	return nil
}

// costsOf reads the models of runs by their directories, and how many cores the host
// of the first has.
func costsOf(from []string) (runs map[string][]cost.Cost, cores float64, err error) {
	runs = map[string][]cost.Cost{}
	for _, name := range from {
		dir := session.Directory(filepath.Clean(name))
		if name == latestRun {
			if dir, err = latestCosts(); err != nil {
				return nil, 0, err
			}
		}
		r, err := readAloud(dir)
		if err != nil {
			return nil, 0, err
		}
		if len(r.Costs) == 0 {
			return nil, 0, fmt.Errorf("plan: the study of %s asks for no costs; netdyno cost TRANSPORT,… measures them", dir)
		}
		runs[string(dir)] = r.Costs
		if cores == 0 {
			cores = coresOf(r.Header.Facts)
		}
	}
	return runs, cores, nil
}

// latestCosts returns the newest run under results/ whose study asks for costs.
func latestCosts() (session.Directory, error) {
	for _, dir := range session.Runs(session.ResultsRoot + "/") {
		header, err := record.ReadHeader(dir.Records())
		if err == nil && len(header.Study.Costs) > 0 {
			return dir, nil
		}
	}
	return "", fmt.Errorf("plan: no run under %s/ has measured costs; netdyno cost TRANSPORT,… does, in about four minutes", session.ResultsRoot)
}

// coresOf counts the CPUs of the smallest host; 0 when that is not known.
func coresOf(facts record.Facts) float64 {
	least := 0
	for _, host := range facts.Seats {
		if n := host.CPUs(); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return float64(least)
}
