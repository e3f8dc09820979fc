// Command netdyno-rig-k8s makes the hosts of rig k8s in a cluster and carries the commands
// that run in them. Rig k8s starts it and speaks to it (package talk); users never type it.
// It is a program of its own so that netdyno, which is brought to every host, does not hold
// the client of Kubernetes.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"netdyno/internal/run/rig/pods/talk"
)

func main() {
	// What was made must be removed, whatever ends the command that wanted it.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, talk.Program+":", err)
		os.Exit(1)
	}
}

// serve answers requests until there are no more, and then gives up what it is about and
// removes what it made.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &program{}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		defer cancel()
		for from := bufio.NewReader(in); ; {
			line, err := from.ReadBytes('\n')
			if err != nil { // io.EOF, also of half a line: who asked is gone
				return
			}
			lines <- line
		}
	}()
	for line := range lines {
		var r talk.Request
		err := json.Unmarshal(line, &r)
		answer := talk.Answer{}
		if err == nil {
			answer, err = p.answer(ctx, r)
		}
		if err != nil {
			answer = talk.Answer{Error: err.Error()}
		}
		_ = json.NewEncoder(out).Encode(answer) // nobody may hear it: then lines end
	}
	err := p.remove()
	answer := talk.Answer{Last: true}
	if err != nil {
		answer.Left = err.Error()
	}
	_ = json.NewEncoder(out).Encode(answer) // who asked may be gone
	return err
}

// program is what one run has in the cluster.
type program struct {
	cluster *cluster
	run     string
	made    bool // something was asked of the cluster that must be removed
	boxes   []*box
	door    *door
}

func (p *program) answer(ctx context.Context, r talk.Request) (talk.Answer, error) {
	switch {
	case r.Open != nil:
		return talk.Answer{}, p.open(ctx, *r.Open)
	case p.cluster == nil:
		return talk.Answer{}, errors.New("the cluster was not opened")
	case r.Make != nil:
		pods, err := p.make(ctx, *r.Make)
		return talk.Answer{Pods: pods}, err
	case r.Settle != nil:
		return talk.Answer{}, p.settle(ctx, *r.Settle)
	case r.Sweep != nil:
		return talk.Answer{Lost: p.sweep(ctx)}, nil
	case r.Publish != nil:
		address, err := p.publish(ctx, *r.Publish)
		return talk.Answer{Address: address}, err
	}
	return talk.Answer{}, errors.New("this is no request that it knows: netdyno is of another release")
}

// open connects, removes what earlier runs left, and lets commands in.
func (p *program) open(ctx context.Context, o talk.Open) error {
	c, err := connect(o.Context, o.Namespace)
	if err != nil {
		return err
	}
	if err := c.sweepLeft(ctx); err != nil {
		return err
	}
	if p.door, err = openDoor(ctx, o.Socket, c); err != nil {
		return err
	}
	p.cluster, p.run = c, o.Run
	c.holder = holderOf(o.PID)
	return nil
}
