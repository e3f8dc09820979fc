package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/arrivals"
	"netdyno/internal/expect"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
)

// looked is the plan of a run by URL, as keys and levels: what was typed, and
// defaults for what was not.
type looked struct {
	typed   []string      // as KEY=LEVEL
	set     []session.Set // by the command
	arms    int
	metered bool          // the servers' CPU and memory will be read
	takes   time.Duration // a request of the slowest server, when nothing else was asked of it
	begins  time.Duration // … to the first event of its reply

	typedWindow bool
	replays     bool // recorded traffic, at its own rate
}

// sets tells whether a key was typed.
func (p *looked) sets(key string) bool { return p.level(key) != "" }

func (p *looked) level(key string) (level string) {
	p.each(func(k, l string) {
		if k == key && level == "" {
			level = l
		}
	})
	return level
}

// each visits what was typed, and what the command set.
func (p *looked) each(visit func(key, level string)) {
	for _, arg := range p.typed {
		if key, level, is := strings.Cut(arg, "="); is {
			visit(key, level)
		}
	}
	for _, set := range p.set {
		visit(set.Key, set.Value)
	}
}

// lack sets a key that was not typed.
func (p *looked) lack(key, level string) { p.lackBy("the command's own "+key, key, level) }

func (p *looked) lackBy(by, key, level string) {
	if level != "" && !p.sets(key) {
		p.set = append(p.set, session.Set{By: by, Key: key, Value: level})
	}
}

// The quick look: with these a block of one URL takes about five seconds at most, so that its
// figures are on the screen by then, and one of two URLs half a second.
const (
	quickConnections   = "1,10,100"
	severalConnections = "10" // of several URLs, which are compared at one load
	quickWindow        = time.Second
	quickWarmup        = 250 * time.Millisecond
	quickTrial         = 150 * time.Millisecond // starting, connecting and ending
	mostBlocks         = 16
	mostSettling       = 30 * time.Second // from the first figures to the end, where they settle nothing

	replayWindow = 3 * time.Second // whose p99 needs 350 requests a second of the recording
	replayBlocks = 4               // of two trials, half a minute: each begins at another moment of the recording

	numberConnections = 50                     // of a number of requests, as other tools have it
	turnWindow        = 500 * time.Millisecond // of one URL whose load goes on from block to block
	shortWindow       = 160 * time.Millisecond // of several, which take turns
	leastTurn         = 100 * time.Millisecond
	mostTurn          = time.Second
	leastTurnBlocks   = 8   // that the usual time has room for
	mostTurns         = 360 // of a load that goes on for long, as far as its window's bound allows
)

// carry makes the arms of a workload ask what its classes say, in place of one request.
func (p *looked) carry(t urlFlags, arms []session.Arm) error {
	for _, f := range []session.Set{{By: "--workload", Key: study.WorkloadFactor, Value: t.workload}, {By: "--speed", Key: "speed", Value: t.speed}} {
		if f.Value == "" {
			continue
		}
		if p.sets(f.Key) {
			return fmt.Errorf("%s is given twice: by %s and by %s=", f.Key, f.By, f.Key)
		}
		p.set = append(p.set, f)
	}
	file := p.level(study.WorkloadFactor)
	p.replays = strings.HasPrefix(p.level("arrival"), "trace:") || file != "" && session.Replays(file)
	if p.replays && t.connections == "" {
		p.lack("connections", strconv.Itoa(numberConnections))
	}
	if file == "" {
		return nil
	}
	for _, arm := range arms {
		client := onLibraries[arm.Levels["opt.server.wire"]]
		if client == "" {
			return fmt.Errorf("--workload goes with http://, https://, grpc:// and grpcs:// URLs; %s is none", arm.Given)
		}
		if arm.Texts["opt.client.body"].Bytes != nil || arm.Levels["opt.client.body"] != "" || arm.Texts["opt.client.paths"].Bytes != nil {
			return errors.New("--workload says what is asked for; leave out the body and --paths")
		}
		delete(arm.Levels, "request")
		delete(arm.Levels, "response")
		switch v := arm.Levels["opt.client.verify"]; v {
		case "length", string(expect.Body):
			return fmt.Errorf("--expect %s does not go with --workload, whose replies differ", v)
		}
		if !p.sets("client") && !session.Native(arm.Levels["client"]) {
			arm.Levels["client"] = client
		}
	}
	return nil
}

// hold sets what the flags say and what nobody said.
func (p *looked) hold(t urlFlags, local bool, arms []session.Arm) error {
	for _, f := range []session.Set{
		{By: "--connections", Key: "connections", Value: t.connections}, {By: "--rate", Key: "rate", Value: t.rate}, {By: "--pace", Key: study.PaceFactor, Value: t.pace}, {By: "--max-errors", Key: "max_errors", Value: t.maxErrors},
		{By: "--timeout", Key: "deadline", Value: t.timeout}, {By: "--connect-timeout", Key: "connect_deadline", Value: t.connectTimeout},
	} {
		if f.Value != "" && p.sets(f.Key) {
			return fmt.Errorf("%s is given twice: by %s and by %s=", f.Key, f.By, f.Key)
		}
		if f.Value != "" {
			p.set = append(p.set, f)
		}
	}
	if t.searches {
		p.lack("connections", searchConnections)
	}
	if err := p.count(t.number); err != nil {
		return err
	}
	follows := arms[0].Levels["events"] != ""
	if p.arms > 1 || follows && p.takes > mostTurn { // replies of one load would go on in the turns of others
		p.lack("connections", severalConnections)
	}
	p.lack("connections", quickConnections)
	p.lack("study", studyName(arms[0].Name))
	if t.judge != "" && p.sets("compare.primary") {
		return errors.New("--judge and compare.primary= both say what is judged; expected one of them")
	}
	p.lackBy("--judge", "compare.primary", t.judge)
	if follows {
		p.lack("compare.primary", ofEvents)
	}
	if p.arms > 1 && !t.searches {
		p.lack("compare.primary", p.objective())
	}
	objective, _, _ := strings.Cut(p.level("compare.primary"), ",")
	p.lack("question", t.question(arms, objective))
	if !local { // nothing of ours shares this host's CPUs
		p.lack("placement", "shared")
	}
	if t.searches {
		return nil // it has its own windows, and ends by itself
	}
	p.typedWindow = p.sets("window")
	if err := p.schedule(t.duration); err != nil {
		return err
	}
	if !p.sets("amount") {
		p.lack("window", p.fits(p.usual()).String())
	}
	p.lack("warmup", max(quickWarmup, min(2*p.begins, mostWindow)).Round(time.Millisecond).String())
	if p.arms == 1 && !p.replays { // the rate of a recording is its own
		p.lack("settle", "5%/"+quantity.DurationText(mostSettling)) // a share is what an arm needs that is compared with nothing
	}
	switch {
	case t.duration != "" && t.number != "":
		return errors.New("--duration and --number both say how long to go on; expected one of them")
	case t.duration != "":
		return p.last(t.duration)
	case t.number == "" && p.arms == 1 && p.replays:
		p.lack("blocks", strconv.Itoa(replayBlocks))
	case t.number == "" && p.arms > 1 && !p.sets("blocks"):
		p.lack("settle", quantity.DurationText(mostSettling))
	}
	return nil
}

// usual is how long a window is that nothing else makes longer.
func (p *looked) usual() time.Duration {
	switch {
	case p.replays:
		return replayWindow
	case p.arms > 1:
		return shortWindow
	case p.turns():
		return turnWindow
	}
	return quickWindow
}

// A window holds so many exchanges of each slot, and of an open loop's schedule, as
// far as it stays within its bound.
const (
	windowExchanges = 20
	windowDues      = 10
	mostWindow      = 10 * time.Second
)

// schedule makes the window as long as a schedule of rates, which runs whole or not at all.
func (p *looked) schedule(duration string) error {
	a, err := arrivals.Parse(p.level("arrival"))
	if scheduled := err == nil && a.Lasts > 0 && a.File == ""; !scheduled { // what is wrong with it is said where the study is read
		return nil
	}
	lasts := quantity.DurationText(a.Lasts)
	if d, err := quantity.ParseDuration(duration); err == nil && d < a.Lasts {
		return fmt.Errorf("--duration %s is shorter than the schedule arrival=%s, which takes %s: it would not run whole", duration, a.Text, lasts)
	}
	p.lack("window", lasts)
	if window, err := quantity.ParseDuration(p.level("window")); err == nil && window < a.Lasts {
		return fmt.Errorf("window=%s is shorter than the schedule arrival=%s, which takes %s: it would not run whole", p.level("window"), a.Text, lasts)
	}
	p.typedWindow = true // it is no more ours to choose
	if p.arms == 1 && duration == "" {
		p.lack("blocks", "1")
	}
	return nil
}

// turns tells whether the windows are turns of loads that go on, which begin and end without
// starting or waiting for anything.
func (p *looked) turns() bool {
	return !p.replays && !p.sets("amount") && !p.scheduled()
}

// scheduled tells whether the rate goes through steps or a ramp.
func (p *looked) scheduled() bool {
	arrival, _, _ := strings.Cut(p.level("arrival"), ":")
	return arrival == "steps" || arrival == "ramp"
}

// fits lengthens a window for a slow server, and for a low rate.
func (p *looked) fits(window time.Duration) time.Duration {
	if p.turns() { // a turn waits for no answer, so that it may be short
		most := max(leastTurn, min(mostTurn, mostSettling/time.Duration(leastTurnBlocks*p.trials())))
		return min(max(window, 3*p.takes, p.dues(3)), most).Round(time.Millisecond)
	}
	return max(window, min(max(windowExchanges*p.takes, p.dues(windowDues)), mostWindow)).Round(time.Millisecond)
}

// dues is how long it takes for so many exchanges to fall due at the lowest rate.
func (p *looked) dues(n float64) (needs time.Duration) {
	for _, text := range strings.Split(p.level("rate"), ",") {
		if rate, err := quantity.ParseRate(text); err == nil && rate > 0 {
			needs = max(needs, time.Duration(n/rate*1e9))
		}
	}
	return needs
}

// tail is the p99 of the loop: in an open one, from when an exchange was due.
func (p *looked) tail() string {
	if p.replays || p.sets("rate") && p.level("rate") != "max" {
		return metric.ResponseP99
	}
	return metric.ServiceP99
}

// objective is the one metric on which several servers are judged, unless the user says
// another: what a user waits for at a rate, else what a request costs, else how many there are.
func (p *looked) objective() string {
	switch {
	case p.tail() == metric.ResponseP99:
		return metric.ResponseP99
	case p.metered:
		return metric.OfServer + metric.CPUPerExchange
	}
	return metric.ExchangesPerS
}

// count makes one trial of a number of requests. A trial has as many on each
// connection.
func (p *looked) count(number string) error {
	if number == "" {
		return nil
	}
	n, err := quantity.ParseCount(number)
	if err != nil || n < 1 {
		return fmt.Errorf("--number %s: expected a number of requests, such as 1000", quantity.Clip(number, 40))
	}
	for _, key := range []string{"amount", "window", "blocks", "settle"} {
		if p.sets(key) {
			return fmt.Errorf("--number and %s= both say how much to do; expected one of them", key)
		}
	}
	p.lack("connections", strconv.FormatInt(min(n, numberConnections), 10))
	connections, err := quantity.ParseCount(p.level("connections"))
	if err != nil || connections < 1 || n < connections {
		return fmt.Errorf("--number %d over %s connections: expected one number of connections, and at least a request for each", n, p.level("connections"))
	}
	if whole := n - n%connections; whole < n {
		remark(fmt.Sprintf("%d requests, as many on each of %d connections", whole, connections))
	}
	p.lack("amount", strconv.FormatInt(n/connections, 10))
	p.lack("blocks", "1")
	return nil
}

// last makes blocks that take a duration together: of several servers as many as fit; else as
// many as are usual, of longer windows where that is long, and more where these would be longer
// than a window is at most; fewer where it is short.
func (p *looked) last(duration string) error {
	for _, key := range []string{"blocks", "amount"} {
		if p.sets(key) {
			return fmt.Errorf("--duration and %s= both say how long to go on; expected one of them", key)
		}
	}
	d, err := quantity.ParseDuration(duration)
	if err != nil || d <= 0 {
		return fmt.Errorf("--duration %s: expected how long to go on, such as 10s", quantity.Clip(duration, 40))
	}
	if p.turns() && !p.typedWindow {
		window := min(max(leastTurn, d/time.Duration(mostBlocks*p.trials())), mostTurn)
		if p.arms > 1 {
			window, _ = quantity.ParseDuration(p.level("window")) // of our own
		}
		window = max(window, min(d/time.Duration(mostTurns*p.trials()), mostWindow))
		p.set = slices.DeleteFunc(p.set, func(s session.Set) bool { return s.Key == "window" })
		p.lack("window", window.Truncate(time.Millisecond).String())
	}
	blocks := max(1, d/p.block())
	if !p.turns() {
		blocks = min(blocks, mostBlocks)
	}
	if trials := time.Duration(p.trials()) * blocks; !p.typedWindow && !p.turns() {
		window, _ := quantity.ParseDuration(p.level("window")) // of our own
		spare := d/trials - p.block()/time.Duration(p.trials())
		p.set = slices.DeleteFunc(p.set, func(s session.Set) bool { return s.Key == "window" })
		p.lack("window", min(max(window/4, window+spare), max(window, mostWindow)).Round(time.Millisecond).String())
		if fits := d / p.block(); blocks == mostBlocks && fits > blocks { // a long time has more blocks, so that figures come early
			blocks = fits
		}
	}
	if p.typedWindow {
		blocks = max(1, d/p.block())
	}
	p.lack("blocks", strconv.Itoa(int(blocks)))
	return nil
}

// withCommas are keys of which one level may have commas, or that vary nothing but arms.
var withCommas = []string{"client", "question", "study", "arrival", "request", "response", "think", "work"}

// trials are those of a block: every cell with every arm, the first of several arms
// twice where they do not alternate.
func (p *looked) trials() int {
	trials := p.arms
	if trials > 1 && !p.turns() {
		trials++
	}
	p.each(func(key, levels string) {
		if !strings.Contains(key, ".") && !slices.Contains(withCommas, key) {
			trials *= 1 + strings.Count(levels, ",")
		}
	})
	return trials
}

// block is about how long a block takes.
func (p *looked) block() time.Duration {
	each, lasts := quickTrial, []string{"window", "warmup"}
	if p.turns() {
		each, lasts = 0, lasts[:1]
	}
	for _, key := range lasts {
		d, _ := quantity.ParseDuration(p.level(key)) // a bad one is refused where the study is read
		each += d
	}
	block := time.Duration(p.trials()) * each
	if p.turns() && p.arms > 1 {
		block += study.Rest * time.Duration(p.trials()/p.arms)
	}
	return block
}
