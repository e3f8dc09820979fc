package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig/pods/talk"
)

const (
	settleTimeout = 30 * time.Second // for netdyno to begin as the first process
	sweepTimeout  = 10 * time.Second // for what is left in a pod
	endTimeout    = 2 * time.Second  // for a stream to end that was told to
)

// box is a pod and the stream to its first process.
type box struct {
	name    string
	cluster *cluster
	to      *io.PipeWriter
	words   chan string // its lines; closed when the stream has ended
	cancel  context.CancelFunc
	ended   chan struct{}
	why     error // of the stream's end, once it has ended
	said    said  // what it said on stderr

	writing sync.Mutex
	renewed chan struct{} // closed when nobody renews any more
}

// hold attaches to the first process of a pod. That ends when the stream does.
func (c *cluster) hold(name string) *box {
	ctx, cancel := context.WithCancel(context.Background())
	in, to := io.Pipe()
	from, out := io.Pipe()
	b := &box{name: name, cluster: c, to: to, words: make(chan string, 16), cancel: cancel, ended: make(chan struct{}), renewed: make(chan struct{})}
	go func() {
		defer close(b.words)
		for lines := bufio.NewScanner(from); lines.Scan(); {
			select {
			case b.words <- lines.Text():
			default: // who speaks unasked is not listened to
			}
		}
	}()
	go func() {
		_, b.why = c.stream(ctx, command{pod: name, attach: true, in: in, out: out, said: &b.said})
		_ = out.Close()
		_ = in.CloseWithError(io.ErrClosedPipe)
		close(b.ended)
	}()
	return b
}

// say writes to the first process, which reads at once or is gone.
func (b *box) say(text string) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err := io.WriteString(b.to, text)
	return err
}

// hear returns the next line of the first process.
func (b *box) hear(ctx context.Context, timeout time.Duration) (string, error) {
	select {
	case line, more := <-b.words:
		if !more {
			<-b.ended
			return "", fmt.Errorf("the stream to its first process has ended: %w%s", cause(b.why), b.said.after("; it said: "))
		}
		return line, nil
	case <-time.After(timeout):
		return "", fmt.Errorf("no word of its first process within %v", timeout)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// said keeps the beginning of what a process says on stderr.
type said struct {
	mu   sync.Mutex
	text []byte
}

func (s *said) Write(b []byte) (int, error) {
	const most = 500
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b[:min(len(b), most-len(s.text))]...)
	return len(b), nil
}

// after returns that after some words; empty where nothing was said.
func (s *said) after(words string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := strings.TrimSpace(string(s.text)); text != "" {
		return words + text
	}
	return ""
}

func cause(err error) error {
	if err == nil {
		return errors.New("that process has ended")
	}
	return err
}

// renew says a word now and then, so that the first process goes on.
func (b *box) renew() {
	for {
		select {
		case <-b.ended:
			return
		case <-b.renewed:
			return
		case <-time.After(talk.Renew):
			if b.say("here\n") != nil {
				return
			}
		}
	}
}

// end ends the first process, and with it everything in the pod.
func (b *box) end() {
	if b == nil {
		return
	}
	close(b.renewed)
	_ = b.to.Close() // it may have ended
	select {
	case <-b.ended:
	case <-time.After(endTimeout):
	}
	b.cancel()
}

// explain adds to an error why the pod is no longer of use, where the cluster knows.
func (b *box) explain(ctx context.Context, err error) error {
	if why := b.cluster.lost(ctx, b.name); why != "" {
		return errors.New(why)
	}
	return err
}

// settle makes netdyno the first process of every pod.
func (p *program) settle(ctx context.Context, s talk.Settle) error {
	var settling errgroup.Group
	for _, b := range p.boxes {
		settling.Go(func() error {
			if err := b.settle(ctx, s.Program[b.name]); err != nil {
				return fmt.Errorf("start netdyno in pod %s: %w", b.name, b.explain(ctx, err))
			}
			go b.renew()
			return nil
		})
	}
	return settling.Wait()
}

func (b *box) settle(ctx context.Context, program string) error {
	if program != "" {
		if err := b.say(program + "\n"); err != nil {
			return err
		}
	}
	if err := b.say("here\n"); err != nil { // its first words may be lost: they may come before we listen
		return err
	}
	line, err := b.hear(ctx, settleTimeout)
	if err == nil && !json.Valid([]byte(line)) {
		err = fmt.Errorf("its first process says %.200q", line)
	}
	return err
}

// sweep leaves nothing but the first process in any pod, and says which are lost.
func (p *program) sweep(ctx context.Context) map[string]string {
	lost := map[string]string{}
	var mu sync.Mutex
	var sweeping errgroup.Group
	for _, b := range p.boxes {
		sweeping.Go(func() error {
			if err := b.sweep(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				lost[b.name] = b.explain(ctx, err).Error()
			}
			return nil
		})
	}
	_ = sweeping.Wait() // lost has them all
	return lost
}

func (b *box) sweep(ctx context.Context) error {
	if err := b.say("\n"); err != nil {
		return err
	}
	line, err := b.hear(ctx, sweepTimeout)
	if err == nil && line != "swept" {
		err = fmt.Errorf("its first process says %.200q", line)
	}
	return err
}
