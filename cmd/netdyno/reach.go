package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/curl"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/target"
)

// reached is what came of asking a server.
type reached struct {
	found   target.Found
	arm     session.Arm
	instead string // why another client asks than the one that was chosen
}

// by is which client asks, on which wire.
func (r reached) by() (wire, client string) {
	return r.found.Levels["opt.server.wire"], r.found.Levels["client"]
}

// protocolOf names what a server of HTTP speaks.
func protocolOf(f target.Found) string {
	name, _, _ := strings.Cut(f.Words, " ") // of its status line
	return name
}

// onGo names no client, so that one on a library of Go's asks.
func onGo(string, bool, string) string { return "" }

// mostGeneral are the clients that ask whatever the others of their wire ask.
var mostGeneral = []string{"go-http1", "go-http2", "go-grpc"}

// askEach asks each server. Those of a wire are asked by one client, unless the user names
// them, as two clients would be compared and not two servers: by that on Go's libraries which
// one of them takes.
func (t *urlFlags) askEach(targets []target.Target, ask func(target.Target) (reached, error)) (all []reached, err error) {
	all = make([]reached, len(targets))
	common := map[string]string{} // by wire
	for i, one := range targets {
		if all[i], err = ask(one); err != nil {
			return nil, err
		}
		wire, client := all[i].by()
		if other := all[0].found; i > 0 && t.Client != nil && t.compared() == nil && other.URL.Scheme == all[i].found.URL.Scheme && other.Levels["opt.server.wire"] != wire {
			return nil, fmt.Errorf("%s answers by %s and %s by %s, so that two protocols and two clients would be compared; --http1.1 asks all of them by HTTP/1.1",
				target.Shown(other.URL), protocolOf(other), target.Shown(all[i].found.URL), protocolOf(all[i].found))
		}
		if known := common[wire]; known == "" || !slices.Contains(mostGeneral, known) && !session.Native(client) {
			common[wire] = client
		}
	}
	for i, one := range targets {
		wire, client := all[i].by()
		if t.Client == nil || client == common[wire] {
			continue
		}
		before := all[i].arm.Asked
		one.Client, one.Begins = func(string, bool, string) string { return common[wire] }, uint64(before.Probe+before.Client)
		if all[i], err = ask(one); err != nil {
			return nil, err
		}
		if _, now := all[i].by(); now != common[wire] {
			return nil, fmt.Errorf("%s is asked by %s and another URL by %s, so that two clients would be compared; client=%s has one ask them all",
				target.Shown(all[i].found.URL), now, common[wire], common[wire])
		}
		all[i].instead = common[wire] + " asks it, as it asks the others, so that servers are compared and not clients"
		all[i].arm.Asked.Probe += before.Probe
		all[i].arm.Asked.Client = before.Client
	}
	return all, nil
}

// cheapest is the client of a wire that takes the least CPU of those that can ask.
func (t *urlFlags) cheapest(ctx context.Context, wire string, encrypted bool) string {
	var needs []contract.Feature
	if encrypted {
		needs = append(needs, contract.FeatureTLS)
	}
	needs = append(needs, t.needs...)
	if t.Limit > 0 || t.ConnectLimit > 0 {
		needs = append(needs, contract.FeatureDeadline)
	}
	if t.gathers {
		needs = append(needs, contract.FeatureGather)
	}
	if t.fills {
		needs = append(needs, contract.FeatureData)
	}
	return session.CheapestClient(ctx, wire, needs...)
}

// targets are how the URLs are asked, what is filled in included, with curl's words of each
// and what the requests before the run brought.
func (t *urlFlags) targets(ctx context.Context, urls []string, classes *source.WorkloadFile) (all []target.Target, words []curl.Request, before beforehand, err error) {
	read := namedFiles(ctx)
	if before, err = t.begin(ctx, read, urls); err != nil {
		return nil, nil, before, err
	}
	all, words = make([]target.Target, len(urls)), make([]curl.Request, len(urls))
	for i, text := range urls {
		if all[i], words[i], err = t.asked(text, read); err == nil {
			before.into(&all[i])
			if by := t.compared(); by != nil {
				by[i].alone(&all[i])
			}
			err = all[i].Fit(urls)
		}
		if err != nil {
			return nil, nil, before, err
		}
	}
	t.fills, err = t.feeds(ctx, all, classes)
	return all, words, before, err
}

// askAny is ask, where a server of recorded traffic need answer one of its classes as it was
// answered: of many requests some may fail.
func (t urlFlags) askAny(ctx context.Context, asked target.Target, recorded []target.Class, others []string, classes *source.WorkloadFile) (r reached, err error) {
	if len(recorded) == 0 {
		return t.ask(ctx, asked, others, classes)
	}
	for _, class := range recorded {
		asked.Classes = []target.Class{class}
		one, failed := t.ask(ctx, asked, others, classes)
		if failed == nil {
			return one, nil
		}
		if err == nil {
			err = failed
		}
		if !strings.HasPrefix(failed.Error(), "class ") { // it is not of the class
			return r, failed
		}
	}
	return r, err
}

// ask asks a server what it answers: one request, or one of each class that a workload has
// for a gRPC server.
func (t urlFlags) ask(ctx context.Context, asked target.Target, others []string, classes *source.WorkloadFile) (r reached, err error) {
	workload := t.workload != "" || (&looked{typed: others}).sets(study.WorkloadFactor)
	if workload && strings.HasPrefix(asked.URL, "grpc") {
		r.found, r.arm, err = askCalls(ctx, t.workers, asked, classes)
		return r, err
	}
	if classes != nil {
		if err := checkMethods(asked.URL, classes); err != nil {
			return r, err
		}
		asked.Classes = asksOf(classes, t.classPaths)
	}
	var by record.Asked
	if r.found, by, r.instead, err = findClient(ctx, t.workers, asked); err != nil {
		return r, err
	}
	r.arm = armOf(r.found)
	r.arm.Asked = by
	carryBodies(r.arm, classes)
	if t.classPaths != nil {
		r.arm.Texts["opt.client.class_paths"] = study.Carried{Bytes: []byte(strings.Join(t.classPaths, "\n"))}
	}
	return r, nil
}

// findClient asks a server, and where a native client was chosen for it lets that client try
// it: what it refuses (a cipher, a header, a way to frame a reply) a client on a library of
// Go's asks, which is said.
func findClient(ctx context.Context, workers *session.Workers, asked target.Target) (found target.Found, by record.Asked, instead string, err error) {
	found, err = target.Ask(ctx, asked)
	by.Probe = found.Asked
	chosen := found.Levels["client"]
	if err != nil || !session.Native(chosen) {
		return found, by, "", err
	}
	why, err := session.TryClient(ctx, workers, ofClass(armOf(found), asked.Classes), &by, asked.MaxErrors)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil || why == "" {
		if found.Begin(uint64(by.Probe + by.Client)); !session.Rings() {
			instead = chosen + " asks it, as io_uring is not to be had here"
		}
		return found, by, instead, err
	}
	asked.Client = onGo
	asked.Begins = uint64(by.Probe + by.Client)
	found, err = target.Ask(ctx, asked)
	by.Probe += found.Asked
	return found, by, chosen + " cannot ask it (" + quantity.Clip(asked.Fill.Hide(why), 200) + "), so " + found.Levels["client"] + " does", err
}
