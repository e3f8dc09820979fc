package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/curl"
	"netdyno/internal/run/meter"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/target"
)

// urlFlags are how a URL is asked, and the few factors that users of such tools
// type as flags. Every one is a field of target.Target or sets a factor.
type urlFlags struct {
	target.Target
	words                       curl.Words
	body, bodyFile, paths       string
	resolve, connectTo          []string
	addresses                   string // all, or first
	ipv4, ipv6                  bool
	source                      string // to connect from
	names                       string // of the arms
	proxy                       string
	abstract                    string // name of a Unix socket
	maxErrors                   string
	timeout, connectTimeout     string
	connections, rate, duration string
	workload, speed, pace       string
	number                      string      // of requests in all
	judge                       string      // metrics
	events, as                  string      // of replies that come in events
	curls                       bool        // the command is curl's own
	steps                       []step      // before all
	fill                        target.Fill // what they gave
	dataFrom, pick              string      // rows that requests are filled with
	classPaths                  []string    // templates, of a workload whose requests differ

	workers    *session.Workers
	recordings *session.Recordings
	said       *said
	flags      *pflag.FlagSet     // as they were typed
	fills      bool               // requests differ
	gathers    bool               // pace=cheap
	needs      []contract.Feature // of a client, by the workload
	loopback   bool               // the run is on this host alone
	searches   bool               // for the highest rate, which nobody sets
}

// targetFlags are the names that need a URL.
var targetFlags = slices.Concat(loadFlags, requestFlags, wordFlags, []string{jsonFlag, "quiet", pinFlag})

// loadFlags say how much is asked of a URL.
var loadFlags = []string{"connections", "rate", "number", "duration", "z", "max-errors", "timeout", "max-time", "connect-timeout", "workload", "speed", study.PaceFactor, "judge"}

// requestFlags say what is asked for, beside curl's own words.
var requestFlags = []string{"name", "method", "header", "body", "body-file", "host", "sni", "ca", "cert", "key", "insecure", "http2", "http3", "http3-only", "paths", "data-from", "pick", "expect", "expect-status", "stream", "events", "as", "before", "take"}

// declare declares the flags.
func (t *urlFlags) declare(f *pflag.FlagSet) {
	f.VarP(counts{t}, "connections", "c", "numbers of connections, such as 50 or 1,10,100 (factor connections)")
	f.StringVarP(&t.rate, "rate", "q", "", "exchanges offered per second, such as 1000 (factor rate)")
	f.StringVarP(&t.number, "number", "n", "", "requests in all, such as 1000, over 50 connections unless -c says another number")
	f.StringVar(&t.duration, "duration", "", "how long to go on in all, such as 10s; -d and -z are short for it")
	f.StringVar(&t.maxErrors, "max-errors", "", "share of failed requests up to which a trial counts; 1% unless given, with --timeout for one URL 50% (factor max_errors)")
	f.StringVarP(&t.timeout, "timeout", "m", "", "time after which a request without a reply has failed, such as 1s; seconds without a unit (factor deadline)")
	f.StringVar(&t.timeout, "max-time", "", "as --timeout")
	f.StringVar(&t.connectTimeout, "connect-timeout", "", "the same for the making of a connection (factor connect_deadline)")
	_ = f.MarkHidden("max-time") // it is declared above
	f.StringVarP(&t.duration, "z", "z", "", "as --duration")
	_ = f.MarkHidden("z") // it is declared above
	t.declareAsked(f)
	t.declareBefore(f)
	f.StringVar(&t.body, "body", "", "body of the request; @FILE reads it from a file")
	f.StringVar(&t.bodyFile, "body-file", "", "file with the body of the request")
	f.StringVar(&t.Host, "host", "", "Host header or :authority, when it is not the URL's")
	f.StringVar(&t.Expect, "expect", "", "what every reply must have: status (unless given); length or body, those of the first reply; regexp:PATTERN, a match in its body, 'not regexp:PATTERN', none; 'json:$.errors == null', a member of its JSON")
	f.IntVar(&t.Status, "expect-status", 0, "status that every reply must have, such as 404; that of the first reply unless given")
	f.StringVar(&t.paths, "paths", "", "file of paths, one a line, that each connection asks for in turn; - reads standard input")
	f.StringVar(&t.dataFrom, "data-from", "", "`FILE` of rows, one a request, that {column} stands for in URL, headers and body: CSV, JSON lines or a text a line ({line}); - reads standard input")
	f.StringVar(&t.pick, "pick", "", "which row a request takes: next, unless given, or random")
	f.StringVar(&t.workload, "workload", "", "`FILE` of what is asked for: a workload file, recorded traffic or an access log (factor workload)")
	f.StringVar(&t.speed, "speed", "", "how many times faster than it was recorded traffic is replayed (factor speed)")
	f.StringVar(&t.pace, "pace", "", "how requests of a rate are sent: even, each when it is due, unless given; cheap, with others up to "+quantity.FormatDuration(study.Gathered)+" later, which takes less CPU (factor pace)")
	f.StringVar(&t.judge, "judge", "", "metrics on which several servers are judged, such as exchanges_per_s; unless given the p99 at a rate, else the server's CPU, else the rate")
	f.BoolVar(&t.Events.Follow, "stream", false, "replies come in events: tell when the first and each other come; server-sent events are found by their Content-Type without it")
	f.StringVar(&t.events, "events", "", "end of a reply in events: a number of them, or a time such as 5s; its own end unless given")
	f.StringVar(&t.as, "as", "", "what events are: chat, those of an OpenAI-compatible endpoint with text; by Content-Type unless given")
	f.StringVar(&t.names, "name", "", "what the arms are called, such as old,new")
	t.addWords(f)
	t.flags = f
}

// declareAsked declares the flags that say how one request is made, beside curl's words.
func (t *urlFlags) declareAsked(f *pflag.FlagSet) {
	f.StringVarP(&t.Method, "method", "X", "", "method of the request")
	f.StringArrayVarP(&t.words.Headers, "header", "H", nil, `header of the request, as "Name: value", or @FILE with such lines; repeatable`)
	f.StringVar(&t.SNI, "sni", "", "server name in TLS, when it is not the URL's")
	f.StringVar(&t.CA, "ca", "", "PEM file of the authorities to trust")
	f.StringVarP(&t.Cert, "cert", "E", "", "PEM file of a client certificate")
	f.StringVar(&t.Key, "key", "", "PEM file of its key, that of --cert unless given")
	f.BoolVarP(&t.Insecure, "insecure", "k", false, "accept any certificate")
	f.BoolVar(&t.HTTP2, "http2", false, "ask for HTTP/2, over http:// too")
	f.BoolVar(&t.HTTP3, "http3", false, "ask for HTTP/3; of --http1.1, --http2 and --http3 several are compared")
	f.BoolVar(&t.HTTP3, "http3-only", false, "as --http3")
	_ = f.MarkHidden("http3-only") // it is declared above
}

// splitURLs parts a command's arguments.
func splitURLs(args []string) (urls, others []string) {
	for _, arg := range args {
		if url, is := target.WithScheme(arg); is {
			urls = append(urls, url)
		} else {
			others = append(others, arg)
		}
	}
	return urls, others
}

// noURL says why an argument that looks like a URL is none that is asked, and what asks it;
// nil of any other.
func noURL(arg string) error {
	scheme, _, is := strings.Cut(arg, "://")
	if scheme = strings.ToLower(scheme); !is || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" || strings.HasPrefix(scheme, "-") || target.IsURL(arg) {
		return nil
	}
	why, known := curl.Elsewhere[scheme]
	if !known {
		why = quantity.Hint(scheme, target.Schemes())
	}
	u, err := target.Parse(arg)
	if err != nil {
		return fmt.Errorf("%s:// is no scheme of a URL that netdyno asks; %s", quantity.Clip(scheme, 20), why)
	}
	return fmt.Errorf("%s is no URL that netdyno asks; %s", quantity.Clip(target.Shown(u), 80), why)
}

// mostURLs bounds what is compared.
const mostURLs = 8

// request asks the URLs, says what was found, and returns what is to be run of them.
func (t urlFlags) request(ctx context.Context, urls, others []string, own ownMessage) (set []session.Set, arms []session.Arm, err error) {
	if len(urls) > mostURLs {
		return nil, nil, fmt.Errorf("found %d URLs; expected at most %d", len(urls), mostURLs)
	}
	if err := t.check(); err != nil {
		return nil, nil, err
	}
	if urls, err = t.eachByProtocol(urls, others); err != nil {
		return nil, nil, err
	}
	if err := t.contradicts(urls, others, own); err != nil {
		return nil, nil, err
	}
	t.sayIgnored(urls)
	if err := t.bound(&looked{typed: others}, len(urls) == 1); err != nil {
		return nil, nil, err
	}
	given, err := t.nameArgs(len(urls))
	if err != nil {
		return nil, nil, err
	}
	t.Proto, t.Message, t.Data = own.proto, own.kind, t.last(own.data)
	if t.paths != "" {
		if t.Paths, err = target.ReadPaths(ctx, t.paths); err != nil {
			return nil, nil, err
		}
	}
	t.chooseClient(ctx, &looked{typed: others})
	t.sayProxy(urls)
	classes, recorded, err := t.asksClasses(ctx, others)
	if err != nil {
		return nil, nil, err
	}
	t.needs = needsOf(classes, recorded)
	local, metered, takes, begins := true, t.loopback, time.Duration(0), time.Duration(0)
	var measured []*url.URL
	targets, words, before, err := t.targets(ctx, urls, classes)
	if err != nil {
		return nil, nil, err
	}
	answers, err := t.askEach(targets, func(one target.Target) (reached, error) {
		return t.askAny(ctx, one, recorded, others, classes)
	})
	if err != nil {
		return nil, nil, err
	}
	for i, a := range answers {
		found, arm := a.found, a.arm
		t.sayAsked(targets[i], words[i], found, a.instead)
		arm.Asked.Probe += before.sent[found.URL.Host]
		delete(before.sent, found.URL.Host) // they are counted once
		local, takes, begins = local && found.Local, max(takes, found.Takes), max(begins, found.Begins)
		metered = t.sayWhere(found) && metered
		measured = append(measured, found.URL)
		arms = append(arms, arm)
	}
	t.sayProtocols(arms)
	nameArms(arms, measured, given)
	p := looked{typed: others, metered: metered, takes: takes, begins: begins}
	p.arms = len(arms) * (1 + strings.Count(p.level("client"), ","))
	if t.compared() != nil { // arms of one URL, which names the study
		p.lack("study", studyName(answers[0].arm.Name))
	}
	if err := p.carry(t, arms); err != nil {
		return nil, nil, err
	}
	if err := p.hold(t, local, arms); err != nil {
		return nil, nil, err
	}
	return p.set, arms, nil
}

// chooseClient says which client a trial shall have, where the user named none.
func (t *urlFlags) chooseClient(ctx context.Context, typed *looked) {
	switch {
	case t.compared() != nil:
		t.Client = func(wire string, _ bool, _ string) string { return onLibraries[wire] }
	case typed.sets("client"):
	case !t.loopback: // nobody knows yet what there is
		t.Client = onGo
	default:
		scheduled := typed.scheduled()
		t.Client = func(wire string, encrypted bool, own string) string {
			if own != "" || scheduled { // clients on Go's libraries tell steps apart
				return ""
			}
			return t.cheapest(ctx, wire, encrypted)
		}
	}
}

// contradicts refuses what is asked of other URLs, or of none.
func (t *urlFlags) contradicts(urls, others []string, own ownMessage) error {
	file := cmp.Or(t.workload, (&looked{typed: others}).level(study.WorkloadFactor))
	switch {
	case own.replyKind != "" || own.replyData != "":
		return errors.New("--reply and --reply-data do not go with a URL: the server says what comes back")
	case t.speed != "" && (file == "" || !session.Replays(file)):
		return errors.New("--speed goes with --workload FILE of recorded traffic, whose times it shortens")
	case t.judge != "" && len(urls) == 1:
		return errors.New("--judge says on which metrics several URLs are compared; found one")
	case anyOf(urls, "grpc") && len(t.words.Pieces) > 1:
		return errors.New(`--data is given once for a call; found several. Of a method that streams its requests the messages follow each other in it: --data '{"id": 1} {"id": 2}'`)
	case anyOf(urls, "grpc") && len(t.words.Forms) > 0:
		return errors.New("--form goes with http:// URLs; for grpc:// write --data JSON")
	case anyOf(urls, "grpc") && len(t.words.Queries) > 0:
		return errors.New("--url-query goes with http:// URLs")
	case t.body != "" && t.bodyFile != "":
		return errors.New("--body and --body-file both make the body; expected one of them")
	case file != "" && (t.Method != "" || t.words.Head):
		return errors.New("--method goes with one request; the classes of a workload have methods of their own")
	}
	return nil
}

// curls are flags of the load whose letters mean something else to curl.
var curls = map[string]string{"-c": "--cookie-jar here, which no file is written for", "-q": "what is done in any case: no .curlrc is read", "-n": "a file of passwords, which is not read; write -u NAME:PASSWORD"}

// check refuses a load that no server is asked for.
func (t urlFlags) check() error {
	for _, f := range []struct{ flag, factor, levels string }{
		{"-c", "connections", t.connections}, {"-q", record.Rate, t.rate}, {"-n", "amount", t.number},
	} {
		if f.levels == "" {
			continue
		}
		factor, err := study.FactorNamed(f.factor)
		if err != nil {
			return err
		}
		for _, level := range strings.Split(f.levels, ",") {
			_, err := factor.Level(level)
			if other := curls[f.flag]; err != nil && other != "" {
				err = fmt.Errorf("%w; curl's %s is %s", err, f.flag, other)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.flag, err)
			}
		}
	}
	if t.number == "0" {
		return errors.New("-n: found 0; expected how many requests to send, such as 1000")
	}
	return nil
}

// lateErrors is the share of the requests that may fail where a time limit was given for one URL
// and no share.
const lateErrors = "50%"

// bound reads what bounds requests and connections, and the share of them that may fail, so
// that the first requests are held to it, too: of several levels to the largest.
func (t *urlFlags) bound(typed *looked, alone bool) (err error) {
	if err := t.follow(); err != nil {
		return err
	}
	largest := func(flag string, text *string, key string, read func(string) (float64, error)) (most float64) {
		for _, level := range strings.Split(cmp.Or(*text, typed.level(key)), ",") {
			if level == "" || err != nil {
				continue
			}
			value, failed := read(level)
			if failed != nil {
				err = fmt.Errorf("%s: %w", flag, failed)
			}
			most = max(most, value)
		}
		return most
	}
	seconds := func(text string) (float64, error) {
		if _, failed := strconv.ParseFloat(text, 64); failed == nil { // as curl has it
			text += "s"
		}
		d, failed := quantity.ParseDuration(text)
		if failed == nil && d < time.Millisecond {
			failed = fmt.Errorf("found %s; expected a time of 1 ms or more, such as 1s", quantity.Clip(text, 40))
		}
		return float64(d), failed
	}
	t.gathers = slices.Contains(strings.Split(cmp.Or(t.pace, typed.level(study.PaceFactor)), ","), study.PaceCheap)
	t.Limit = time.Duration(largest("--timeout", &t.timeout, "deadline", seconds))
	t.ConnectLimit = time.Duration(largest("--connect-timeout", &t.connectTimeout, "connect_deadline", seconds))
	t.MaxErrors = largest("--max-errors", &t.maxErrors, "max_errors", quantity.ParseShare)
	if t.maxErrors == "" && !typed.sets("max_errors") {
		if t.MaxErrors = contract.ForeignErrors; t.Limit > 0 && alone && !t.searches { // what is late is what is asked
			t.maxErrors, t.MaxErrors = lateErrors, 0.5
		}
	}
	for _, of := range []struct {
		text *string
		d    time.Duration
	}{{&t.timeout, t.Limit}, {&t.connectTimeout, t.ConnectLimit}} {
		if *of.text != "" {
			*of.text = of.d.String()
		}
	}
	return err
}

// sayProxy says that proxies of the environment are not asked, where curl would ask one.
func (t urlFlags) sayProxy(urls []string) {
	if t.proxy != "" || t.Socket != "" || t.abstract != "" {
		return
	}
	for _, text := range urls {
		u, err := target.Parse(text)
		if err != nil || target.OfLoopback(u) {
			continue
		}
		for _, name := range []string{u.Scheme + "_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"} {
			if os.Getenv(name) != "" && (name != "HTTPS_PROXY" || u.Scheme == "https") {
				remark(name + " is set and not used: requests go straight to the server; -x says a proxy to ask")
				return
			}
		}
	}
}

// last is the data of a request or a message of one's own: what --data said last.
func (t urlFlags) last(data string) string {
	if n := len(t.words.Pieces); data == "" && n > 0 {
		return t.words.Pieces[n-1].Text
	}
	return data
}

// armOf makes an arm of what was found.
func armOf(found target.Found) session.Arm {
	return session.Arm{Given: target.Shown(found.URL), Name: nameOf(found.Name), Levels: found.Levels, Texts: found.Texts}
}

// sayWhere says where connections go, and tells whether the CPU of what answers there is read.
func (t urlFlags) sayWhere(found target.Found) (metered bool) {
	if found.Spread != "" {
		t.said.say("  " + found.Spread)
	}
	if t.loopback && found.Local && (found.At.IsValid() || found.Socket != "") {
		words, read := account(found)
		t.said.say("  " + words)
		metered = read
	}
	return metered
}

// account says whose CPU and memory will be the server's, or why nobody's.
func account(found target.Found) (words string, metered bool) {
	at := found.Addresses
	if len(at) == 0 {
		at = []netip.AddrPort{found.At}
	}
	var a contract.Attached
	var err error
	switch {
	case found.Socket != "":
		a, err = meter.AttachableSocket(found.Socket)
	case found.Levels["opt.server.wire"] == target.WireHTTP3:
		a, err = meter.AttachableDatagrams(at[0])
	default:
		a, err = meter.Attachable(at...)
	}
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

// studyName makes a name of a study, and of its directory, from an arm's.
func studyName(arm string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":/[]+", r) {
			return '-'
		}
		return r
	}, arm)
	name = strings.Trim(name, "-")
	return name[:min(len(name), 60)]
}

// question says what such a run asks, on one metric first.
func (t urlFlags) question(arms []session.Arm, objective string) string {
	names := each.Of(arms, func(a session.Arm) string { return a.Name })
	which := strings.Join(names, " or ") + "?"
	switch {
	case t.searches && len(arms) == 1:
		return "How many requests a second does " + names[0] + " carry within the objective?"
	case t.searches:
		return "Which carries more requests a second within the objective: " + which
	case len(arms) == 1:
		return "How many requests does " + names[0] + " answer, and how fast?"
	case objective == metric.OfServer+metric.CPUPerExchange:
		return "Which takes less CPU for a request: " + which
	case objective == metric.ResponseP99:
		return "Which answers 99 % of the requests sooner: " + which
	case objective == metric.ExchangesPerS:
		return "Which answers more requests: " + which
	}
	return "Which is better: " + which
}
