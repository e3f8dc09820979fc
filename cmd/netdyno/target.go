package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"netdyno/internal/quantity"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/probe"
	"netdyno/internal/run/session"
)

// target is how a URL is asked, and the few factors that users of such tools
// type as flags. Every one is a field of probe.Target or sets a factor.
type target struct {
	probe.Target
	body, bodyFile, paths       string
	connections, rate, duration string

	loopback bool // the run is on this host alone
	searches bool // for the highest rate, which nobody sets
}

// targetFlags are the names that need a URL.
var targetFlags = []string{"connections", "duration", "method", "header", "body", "body-file", "host", "sni", "ca", "cert", "key", "insecure", "http2", "paths", "rate", "z"}

// add declares the flags.
func (t *target) add(f *pflag.FlagSet) {
	f.StringVarP(&t.connections, "connections", "c", "", "URL: numbers of connections, such as 50 or 1,10,100 (factor connections)")
	f.StringVarP(&t.rate, "rate", "q", "", "URL: exchanges offered per second, such as 1000 (factor rate)")
	f.StringVarP(&t.duration, "duration", "d", "", "URL: how long to go on in all, such as 10s")
	f.StringVarP(&t.duration, "z", "z", "", "as --duration")
	_ = f.MarkHidden("z") // it is declared above
	f.StringVarP(&t.Method, "method", "X", "", "URL: method of the request")
	f.StringArrayVarP(&t.Headers, "header", "H", nil, `URL: header of the request, as "Name: value"; repeatable`)
	f.StringVarP(&t.body, "body", "b", "", "URL: body of the request; @FILE reads it from a file")
	f.StringVar(&t.bodyFile, "body-file", "", "URL: file with the body of the request")
	f.StringVar(&t.Host, "host", "", "URL: Host header or :authority, when it is not the URL's")
	f.StringVar(&t.SNI, "sni", "", "URL: server name in TLS, when it is not the URL's")
	f.StringVar(&t.CA, "ca", "", "URL: PEM file of the authorities to trust")
	f.StringVar(&t.Cert, "cert", "", "URL: PEM file of a client certificate")
	f.StringVar(&t.Key, "key", "", "URL: PEM file of its key")
	f.BoolVar(&t.Insecure, "insecure", false, "URL: accept any certificate")
	f.BoolVar(&t.HTTP2, "http2", false, "URL: ask for HTTP/2, over http:// too")
	f.StringVar(&t.paths, "paths", "", "URL: file of paths, one a line, that each connection asks for in turn; - reads standard input")
}

// splitURLs parts a command's arguments.
func splitURLs(args []string) (urls, others []string) {
	for _, arg := range args {
		if probe.IsURL(arg) {
			urls = append(urls, arg)
		} else {
			others = append(others, arg)
		}
	}
	return urls, others
}

// Limits of what is named by URL.
const (
	mostURLs   = 8
	mostBlocks = 16
)

// request probes the URLs, says what was found, and returns the study to run.
func (t target) request(ctx context.Context, urls, others []string, own ownMessage) (args []string, arms []session.Arm, err error) {
	if len(urls) > mostURLs {
		return nil, nil, fmt.Errorf("found %d URLs; expected at most %d", len(urls), mostURLs)
	}
	asked := t.Target
	asked.Proto, asked.Message, asked.Data = own.proto, own.kind, own.data
	asked.Body, asked.BodyFile = t.body, t.bodyFile
	if file, ok := strings.CutPrefix(t.body, "@"); ok {
		asked.Body, asked.BodyFile = "", file
	}
	if t.paths != "" {
		if asked.Paths, err = probe.ReadPaths(ctx, t.paths); err != nil {
			return nil, nil, err
		}
	}
	if err := asked.Fit(urls); err != nil {
		return nil, nil, err
	}
	if t.loopback { // elsewhere nobody knows yet what there is
		asked.Client = func(wire string, encrypted bool) string { return session.CheapestClient(ctx, wire, encrypted) }
	}
	local, metered, takes := true, t.loopback, time.Duration(0)
	for _, url := range urls {
		asked.URL = url
		found, err := probe.Probe(ctx, asked)
		if err != nil {
			return nil, nil, err
		}
		stdout.say("%s: %s", url, found.Words)
		local, takes = local && found.Local, max(takes, found.Takes)
		if t.loopback && found.Local && found.At.IsValid() {
			words, read := account(found)
			stdout.say("  %s", words)
			metered = metered && read
		} else {
			metered = false
		}
		arms = append(arms, session.Arm{Given: url, Name: found.Name, Levels: found.Levels})
	}
	tellApart(arms)
	p := looked{typed: others, arms: len(arms), metered: metered, takes: takes}
	if err := p.hold(t, local, arms); err != nil {
		return nil, nil, err
	}
	return p.typed, arms, nil
}

// tellApart names arms by their whole URLs where their names are the same: two
// versions of a service, for instance.
func tellApart(arms []session.Arm) {
	times := map[string]int{}
	for _, a := range arms {
		times[a.Name]++
	}
	for i, a := range arms {
		if times[a.Name] > 1 {
			_, arms[i].Name, _ = strings.Cut(a.Given, "://")
		}
	}
}

// account says whose CPU and memory will be the server's, or why nobody's.
func account(found probe.Found) (words string, metered bool) {
	a, err := meter.Attachable(found.At)
	if err != nil {
		return "its CPU and memory stay unknown: " + err.Error(), false
	}
	who := "process"
	if len(a.PIDs) > 1 {
		who = "processes"
	}
	pids := strings.Trim(fmt.Sprint(a.PIDs), "[]")
	return fmt.Sprintf("its CPU and memory are those of %s (%s %s) and what it starts", strings.Join(a.Names, ", "), who, pids), true
}

// looked is the plan of a run by URL, as keys and levels: what was typed, and
// defaults for what was not.
type looked struct {
	typed   []string
	arms    int
	metered bool          // the servers' CPU and memory will be read
	takes   time.Duration // a request of the slowest server, when nothing else was asked of it
}

// sets tells whether a key was typed.
func (p *looked) sets(key string) bool { return p.level(key) != "" }

func (p *looked) level(key string) string {
	for _, arg := range p.typed {
		if level, ok := strings.CutPrefix(arg, key+"="); ok {
			return level
		}
	}
	return ""
}

// lack adds a key that was not typed.
func (p *looked) lack(key, level string) {
	if !p.sets(key) {
		p.typed = append(p.typed, key+"="+level)
	}
}

// The quick look: with these a block of one URL, or of two, takes about five
// seconds at most, so that its figures are on the screen by then.
const (
	quickConnections = "1,10,100"
	quickWindow      = time.Second
	quickWarmup      = 250 * time.Millisecond
	quickTrial       = 150 * time.Millisecond // starting, connecting and ending
	shortWindow      = 250 * time.Millisecond // of several URLs, whose first also runs twice
	shortWarmup      = 100 * time.Millisecond
)

// hold sets what the flags say and what nobody said.
func (p *looked) hold(t target, local bool, arms []session.Arm) error {
	for _, f := range []struct{ key, level string }{{"connections", t.connections}, {"rate", t.rate}} {
		if f.level != "" && p.sets(f.key) {
			return fmt.Errorf("%s is given twice: by --%s and by %s=", f.key, f.key, f.key)
		}
		if f.level != "" {
			p.lack(f.key, f.level)
		}
	}
	if t.searches {
		p.lack("connections", searchConnections)
	}
	p.lack("connections", quickConnections)
	p.lack("study", studyName(arms[0].Name))
	p.lack("question", t.question(arms))
	if !local { // nothing of ours shares this host's CPUs
		p.lack("placement", "shared")
	}
	if t.searches {
		return nil // it has its own windows, and ends by itself
	}
	window, warmup := quickWindow, quickWarmup
	if p.arms > 1 {
		window, warmup = shortWindow, shortWarmup
	}
	if !p.sets("amount") {
		p.lack("window", p.fits(window).String())
	}
	p.lack("warmup", max(warmup, min(2*p.takes, mostWindow)).Round(time.Millisecond).String())
	if p.arms > 1 && !p.sets("compare.primary") {
		primary := "exchanges_per_s," + p.tail()
		if p.metered {
			primary += ",server.cpu_us_per_exchange"
		}
		p.lack("compare.primary", primary)
	}
	return p.limit(t.duration)
}

// A window holds so many exchanges of each slot, and of an open loop's schedule, as
// far as it stays within its bound.
const (
	windowExchanges = 20
	windowDues      = 10
	mostWindow      = 10 * time.Second
)

// fits lengthens a window for a slow server, and for a low rate.
func (p *looked) fits(window time.Duration) time.Duration {
	needs := windowExchanges * p.takes
	for _, text := range strings.Split(p.level("rate"), ",") {
		if rate, err := quantity.ParseRate(text); err == nil && rate > 0 {
			needs = max(needs, time.Duration(windowDues/rate*1e9))
		}
	}
	return max(window, min(needs, mostWindow)).Round(time.Millisecond)
}

// tail is the p99 of the loop: in an open one, from when an exchange was due.
func (p *looked) tail() string {
	if p.sets("rate") && p.level("rate") != "max" {
		return "response_p99_us"
	}
	return "service_p99_us"
}

// limit chooses the blocks: those of a duration, else the usual looks of several
// arms; one arm is looked at sooner and more often, as no comparison pays for it.
func (p *looked) limit(duration string) error {
	if p.sets("blocks") && duration != "" {
		return fmt.Errorf("--duration and blocks= both say how long to go on; expected one of them")
	}
	most := mostBlocks
	if duration != "" {
		d, err := quantity.ParseDuration(duration)
		if err != nil {
			return fmt.Errorf("--duration: %w", err)
		}
		most = int(max(1, min(mostBlocks, d/max(time.Millisecond, p.block()))))
	}
	looks := []int{6, 10, 16}
	if p.arms == 1 {
		looks = []int{3, 5, 8, 12, 16}
		p.lack("settle", "5%")
	}
	looks = slices.DeleteFunc(looks, func(n int) bool { return n >= most })
	p.lack("blocks", strings.Trim(strings.ReplaceAll(fmt.Sprint(append(looks, most)), " ", ","), "[]"))
	return nil
}

// block is about how long a block takes: every cell with every arm, the first of
// several arms twice.
func (p *looked) block() time.Duration {
	trials := p.arms
	if trials > 1 {
		trials++
	}
	for _, arg := range p.typed {
		key, levels, _ := strings.Cut(arg, "=")
		if !strings.Contains(key, ".") && key != "question" && key != "study" {
			trials *= 1 + strings.Count(levels, ",")
		}
	}
	each := quickTrial
	for _, key := range []string{"window", "warmup"} {
		d, _ := quantity.ParseDuration(p.level(key)) // a bad one is refused where the study is read
		each += d
	}
	return time.Duration(trials) * each
}

// studyName makes a name of a study, and of its directory, from an arm's.
func studyName(arm string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":/[]", r) {
			return '-'
		}
		return r
	}, arm)
	name = strings.Trim(name, "-")
	return name[:min(len(name), 60)]
}

// question says what such a run asks.
func (t target) question(arms []session.Arm) string {
	var names []string
	for _, a := range arms {
		names = append(names, a.Name)
	}
	switch {
	case t.searches && len(arms) == 1:
		return "How many requests a second does " + names[0] + " carry within the objective?"
	case t.searches:
		return "Which carries more requests a second within the objective: " + strings.Join(names, " or ") + "?"
	case len(arms) == 1:
		return "How many requests does " + names[0] + " answer, and how fast?"
	}
	return "Which answers more requests, and faster: " + strings.Join(names, " or ") + "?"
}
