package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"

	"netdyno/internal/quantity"
	"netdyno/internal/run/curl"
	"netdyno/internal/run/target"
)

// step is a request that is made once, before a run asks anything else, and what is taken
// out of its reply.
type step struct {
	command string // of curl's
	takes   []target.Take
}

// mostSteps bounds the requests before a run.
const mostSteps = 20

// stepFlag is --before or --take, which belongs to the --before in front of it.
type stepFlag struct {
	steps *[]step
	takes bool
}

func (stepFlag) String() string { return "" }

func (f stepFlag) Type() string {
	if f.takes {
		return "NAME=FROM"
	}
	return "command"
}

// Set implements pflag.Value.
func (f stepFlag) Set(text string) error {
	n := len(*f.steps)
	switch {
	case !f.takes && n == mostSteps:
		return fmt.Errorf("more than %d of them are a script, as k6 runs them", mostSteps)
	case !f.takes:
		*f.steps = append(*f.steps, step{command: text})
		return nil
	case n == 0:
		return errors.New("expected behind the --before whose reply it reads")
	}
	t, err := target.ParseTake(text)
	(*f.steps)[n-1].takes = append((*f.steps)[n-1].takes, t)
	return err
}

// declareBefore declares the flags.
func (t *urlFlags) declareBefore(f *pflag.FlagSet) {
	f.Var(stepFlag{&t.steps, false}, "before", "a `command` of curl's, such as 'curl -d user=a http://127.0.0.1:8080/login', that is run once before all; its cookies go on to the same host; repeatable")
	f.Var(stepFlag{&t.steps, true}, "take", "a value of its reply that stands for {NAME} in later requests, `NAME=FROM`: json:$.path, header:Name or cookie:Name; repeatable")
	f.Var(eachFlag{}, "before-each", "refused")
	_ = f.MarkHidden("before-each")
}

// eachFlag is refused.
type eachFlag struct{}

func (eachFlag) String() string { return "" }
func (eachFlag) Type() string   { return "command" }
func (eachFlag) Set(string) error {
	return errors.New("what is done for each connection or request would be measured with it, or delay when it is due; --before runs once a run, and k6 runs scripts")
}

// beforehand is what the requests before a run brought.
type beforehand struct {
	jar  http.CookieJar
	fill target.Fill
	sent map[string]int64 // requests by host
}

// begin makes the requests in their order, and says what they were.
func (t *urlFlags) begin(ctx context.Context, read curl.Read, urls []string) (b beforehand, err error) {
	b.fill, b.sent = t.fill, map[string]int64{}
	if b.jar, err = cookiejar.New(nil); err != nil {
		return b, err
	}
	type request struct {
		target.Target
		within time.Duration
	}
	requests := make([]request, len(t.steps))
	for i, s := range t.steps {
		if requests[i].Target, requests[i].within, err = asCurl(s.command, read); err != nil {
			return b, fmt.Errorf("--before, the %s: %w", ordinal(i), err)
		}
	}
	for i, s := range t.steps {
		for _, take := range s.takes {
			later := slices.ContainsFunc(requests[i+1:], func(r request) bool { return carries(r.Target, take.Name) })
			for _, url := range urls {
				asked, _, err := t.asked(url, read)
				if err != nil {
					return b, err
				}
				later = later || carries(asked, take.Name)
			}
			if !later {
				return b, fmt.Errorf("--take %s: no URL, header or body of a later request has {%s} in it; the requests of a workload's own file are not filled", take.Name, take.Name)
			}
		}
	}
	for i, s := range t.steps {
		requests[i].Fill = b.fill
		came, err := target.Send(ctx, requests[i].Target, b.jar, requests[i].within)
		if err != nil {
			return b, fmt.Errorf("--before, the %s: %w", ordinal(i), err)
		}
		var names []string
		for _, take := range s.takes {
			if b.fill[take.Name], err = take.Value(came); err != nil {
				return b, err
			}
			names = append(names, "{"+take.Name+"}")
		}
		if u, err := target.Parse(requests[i].URL); err == nil {
			b.sent[u.Host] += came.Sent
		}
		stdout.say("before: %s%s", came.Words, map[bool]string{true: ", taken: " + strings.Join(names, ", ")}[len(names) > 0])
	}
	return b, nil
}

// leastSecret is the length from which on a cookie is hidden in what a server says.
const leastSecret = 8

// into gives a target the cookies and the values.
func (b beforehand) into(t *target.Target) {
	t.Fill = b.fill
	u, err := target.Parse(t.URL) // what is wrong with it is said where it is asked
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	var all []string
	for _, c := range b.jar.Cookies(u) {
		if all = append(all, c.Name+"="+c.Value); len(c.Value) >= leastSecret {
			b.fill["cookie "+c.Name] = c.Value // which nothing is filled with: it is hidden
		}
	}
	if len(all) == 0 {
		return
	}
	t.Headers = slices.Clone(t.Headers)
	for i, h := range t.Headers {
		if name, own, _ := strings.Cut(h, ":"); strings.EqualFold(strings.TrimSpace(name), "Cookie") {
			all = append(all, strings.TrimSpace(own))
			t.Headers = slices.Delete(t.Headers, i, i+1)
			break
		}
	}
	t.Headers = append(t.Headers, "Cookie: "+strings.Join(all, "; "))
}

// carries tells whether a target has a name to be filled.
func carries(t target.Target, name string) bool {
	texts := slices.Concat([]string{t.URL, t.Body, t.Data}, t.Headers, t.Paths)
	return t.BodyFile != "" || slices.ContainsFunc(texts, target.Fill{name: ""}.In)
}

// asCurl reads a command of curl's: what it asks for, and for how long at most.
func asCurl(command string, read curl.Read) (asked target.Target, within time.Duration, err error) {
	var unset string
	words, err := shell.Fields(command, func(name string) string {
		value := os.Getenv(name)
		if value == "" && name != "IFS" {
			unset = name
		}
		return value
	})
	switch {
	case err != nil:
		return asked, 0, fmt.Errorf("%s; expected one command of curl's, and k6 runs scripts", quantity.Clip(err.Error(), 120))
	case unset != "":
		return asked, 0, fmt.Errorf("the variable %s is not set; what $ begins stands in single quotes", quantity.Clip(unset, 40))
	case len(words) < 2 || words[0] != "curl":
		return asked, 0, errors.New("expected a command of curl's, such as 'curl -d user=a http://127.0.0.1:8080/login'; k6 runs scripts")
	}
	t := urlFlags{curls: true}
	flags := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	flags.Usage = func() {}
	t.declareAsked(flags)
	limit := flags.Float64P("max-time", "m", 30, "")
	t.addWords(flags)
	if err := flags.Parse(words[1:]); err != nil {
		return asked, 0, fmt.Errorf("curl: %s", quantity.Clip(err.Error(), 120))
	}
	// In place of a file of cookies stands the jar.
	t.words.Cookies = slices.DeleteFunc(t.words.Cookies, func(c string) bool { return !strings.Contains(c, "=") })
	if t.HTTP3 || t.HTTP1 && t.HTTP2 {
		return asked, 0, errors.New("curl: expected --http1.1 or --http2, or neither; HTTP/3 asks for what is measured alone")
	}
	urls := withScheme(flags.Args())
	if len(urls) != 1 {
		return asked, 0, fmt.Errorf("found %d URLs; expected one", len(urls))
	}
	if !(*limit > 0 && *limit <= 600) {
		return asked, 0, errors.New("curl: --max-time: expected seconds above 0, and at most 600")
	}
	asked, _, err = t.asked(urls[0], read)
	return asked, time.Duration(*limit * float64(time.Second)), err
}

func ordinal(i int) string {
	if names := []string{"first", "second", "third"}; i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%dth", i+1)
}
