package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"netdyno/internal/arrivals"
	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/hist"
	"netdyno/internal/sizes"
	"netdyno/internal/work/load"
)

// The queue: a server of one thread for its one connection works for one exchange at a time,
// in the order of their coming, asleep or on a CPU, and for so long that a path takes less
// than 1 % of it.
const (
	queueWork   = "exp:20ms"
	queueServer = "threads"
	queueClient = "go-net"
)

var queueLoad = contract.Load{Connections: 1, InFlight: 64, Rate: 25, Amount: 2300} // a minute and a half

// queued sets the p99 of each of two classes beside those of a simulation that has the same
// schedule, classes and times of work. Work on a CPU lasts longer by what others take of it,
// and a client is late by that, so that both go before others: with a third of its CPU taken the p99 was 27 to
// 39 % above the simulated one.
func queued(ctx context.Context, bin string, by contract.WorkBy) ([]answer, error) {
	const most = 0.02
	work, err := sizes.ParseTime(queueWork)
	if err != nil {
		return nil, err
	}
	a, err := arrivals.Parse("gamma:cv=1")
	if err != nil {
		return nil, err
	}
	setup := contract.Setup{Trial: "queue", Seed: 36, Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100}, Load: queueLoad}
	for i, name := range []string{"reads", "writes"} {
		setup.Load.Classes = append(setup.Load.Classes, contract.Class{Name: name, End: int64(i+1) << 31, UpBytes: 100, DownBytes: 100})
	}
	a.Enter(&setup.Load)
	result, err := driveQueue(ctx, bin, setup, contract.Work{Ns: work.Table, By: by})
	if err != nil {
		return nil, err
	}
	expected, err := simulated(setup, work.Table)
	if err != nil {
		return nil, err
	}
	var answers []answer
	for i, c := range result.Classes {
		shown, err := p99Of(c.Response)
		if err != nil {
			return answers, err
		}
		known, _ := expected[i].Percentile(0.99)
		off := float64(shown)/float64(known) - 1
		answers = append(answers, answer{
			fmt.Sprintf("one queue, work by %s: p99 of class %s of %d exchanges, simulated %.1f ms", by, c.Name, expected[i].Count(), float64(known)/1e6),
			fmt.Sprintf("%+.2f %%", 100*off), "within 2 %", math.Abs(off) <= most,
		})
	}
	return answers, nil
}

func p99Of(histogram string) (int64, error) {
	h, err := hist.Decode(histogram)
	if err != nil {
		return 0, err
	}
	p99, ok := h.Percentile(0.99)
	if !ok {
		return 0, errors.New("too few times for a p99")
	}
	return p99, nil
}

// simulated are the response times of each class: the recursion of Lindley. A slot sends
// its next exchange when that is due and the one before has completed.
func simulated(setup contract.Setup, work contract.Table) ([]*hist.Histogram, error) {
	l := setup.Load
	cycle, err := draw.NewCycle(l.Gaps, setup.Seed)
	if err != nil {
		return nil, err
	}
	draws, err := load.DrawsOf(setup)
	if err != nil {
		return nil, err
	}
	times := draw.NewDrawer(work, setup.Seed, draw.Work)
	due := func(n uint64) int64 { return int64(cycle.Place(n) / l.Rate * 1e9) }
	var coming load.Agenda[uint64] // exchanges, by when they are sent
	slots := uint64(l.Connections * max(1, l.InFlight))
	for i := range slots {
		coming.Push(due(i), i)
	}
	all := make([]*hist.Histogram, len(l.Classes))
	for i := range all {
		all[i] = hist.New()
	}
	free := int64(0)
	served := uint64(l.Connections) // each connection's first exchange was verified
	for coming.Len() > 0 {
		at, n := coming.Peek()
		coming.Pop()
		done := max(at, free) + times.Draw(served)
		served++
		free = done
		all[draws.Of(n).Class].Record(done-due(n), 1)
		if next := n + slots; next < uint64(l.Amount)*uint64(l.Connections) {
			coming.Push(max(due(next), done), next)
		}
	}
	return all, nil
}

// driveQueue carries a load out against a server that works.
func driveQueue(ctx context.Context, bin string, setup contract.Setup, work contract.Work) (result *contract.Result, err error) {
	server, err := startProgram(ctx, filepath.Join(bin, "netdyno-worker-threads"))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, server.end()) }()
	client, err := startProgram(ctx, filepath.Join(bin, "netdyno-worker-net"))
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, client.end()) }()
	for _, p := range []*program{server, client} {
		if err = p.goFirst(); err != nil {
			return nil, fmt.Errorf("a queue whose CPU others take has no known times: give this program the right to real-time priority (as root, or with CAP_SYS_NICE): %w", err)
		}
	}
	at := setup
	at.Role, at.Transport, at.Listen, at.Work, at.Load.Classes = contract.Server, queueServer, "127.0.0.1:0", &work, nil
	ready, err := server.ask(contract.Message{Setup: &at}, func(m contract.Message) bool { return m.Ready != nil })
	if err != nil {
		return nil, err
	}
	setup.Role, setup.Transport, setup.Peers = contract.Client, queueClient, ready.Ready.Addresses
	if _, err = client.ask(contract.Message{Setup: &setup}, func(m contract.Message) bool { return m.Ready != nil }); err != nil {
		return nil, err
	}
	if _, err = client.ask(contract.Message{Mark: &contract.Mark{ID: 1, Reset: true}}, func(m contract.Message) bool { return m.Mark != nil }); err != nil {
		return nil, err
	}
	m, err := client.ask(contract.Message{Start: &contract.Start{}}, func(m contract.Message) bool { return m.Result != nil })
	if err == nil && len(m.Result.Counts.Errors) > 0 {
		err = fmt.Errorf("exchanges failed: %v", m.Result.Counts.Errors)
	}
	return m.Result, err
}

// program is a worker that this program converses with by itself.
type program struct {
	command *exec.Cmd
	to      io.WriteCloser
	from    *bufio.Reader
}

func startProgram(ctx context.Context, path string) (*program, error) {
	p := &program{command: exec.CommandContext(ctx, path)}
	p.command.Stderr = os.Stderr
	to, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.to, p.from = to, bufio.NewReaderSize(from, 1<<20)
	return p, p.command.Start()
}

// goFirst lets the program run before all that have no real-time priority, once it has said
// hello: threads that it starts later do as those that it has.
func (p *program) goFirst() error {
	if _, err := p.from.ReadBytes('\n'); err != nil {
		return err
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.command.Process.Pid))
	for _, t := range threads {
		thread, bad := strconv.Atoi(t.Name())
		err = cmp.Or(err, bad)
		if err == nil {
			err = goFirst(thread)
		}
	}
	return err
}

// ask sends a message and returns the first one for which is holds; the error is the
// worker's own.
func (p *program) ask(m contract.Message, is func(contract.Message) bool) (contract.Message, error) {
	line, err := json.Marshal(m)
	if err == nil {
		_, err = p.to.Write(append(line, '\n'))
	}
	for err == nil {
		if line, err = p.from.ReadBytes('\n'); err != nil {
			break
		}
		var got contract.Message
		if err = json.Unmarshal(line, &got); err != nil {
			break
		}
		if got.Error != nil {
			return got, fmt.Errorf("%s: %s", got.Error.Kind, got.Error.Text)
		}
		if is(got) {
			return got, nil
		}
	}
	return contract.Message{}, err
}

// end closes the conversation, which ends the worker.
func (p *program) end() error {
	_ = p.to.Close()
	timer := time.AfterFunc(5*time.Second, func() { _ = p.command.Process.Kill() })
	defer timer.Stop()
	_, _ = io.Copy(io.Discard, p.from)
	return p.command.Wait()
}
