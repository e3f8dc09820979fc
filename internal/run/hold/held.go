package hold

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
)

const (
	startTimeout = 20 * time.Second // for a holder to say what stood there
	endTimeout   = 10 * time.Second // for it to put everything back
	maxAnswer    = 64 << 10         // bytes of what it says
)

// Held are settings that a holder keeps on a host. Whoever started it releases it.
type Held struct {
	Before map[string]string // what stood there, by key

	host  string
	in    io.WriteCloser
	said  *rig.Tail
	ended chan error
}

// Start starts a holder on a host; netdyno is the program, a file of this host. A value
// of "" only reads. It has set everything when it returns.
func Start(ctx context.Context, host rig.Host, netdyno string, settings map[string]string) (*Held, error) {
	argv := []string{netdyno, "internal", "hold", "--address", host.Address, "--"}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		word := key
		if settings[key] != "" {
			word += "=" + settings[key]
		}
		argv = append(argv, word)
	}
	line := host.Command(argv...)
	c := exec.Command(line[0], line[1:]...)
	h := &Held{host: host.Name, said: new(rig.Tail), ended: make(chan error, 1)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is for the run, which ends it in order
	c.Stderr = h.said
	out, err := c.StdoutPipe()
	if err == nil {
		h.in, err = c.StdinPipe()
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("hold settings on %s: %w", host.Name, err)
	}
	answered := make(chan error, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(out, maxAnswer)).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(text, &h.Before)
		}
		answered <- err
		h.ended <- c.Wait()
	}()
	bounded, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("no answer within %v", startTimeout))
	defer cancel()
	select {
	case err = <-answered:
	case <-bounded.Done():
		err = context.Cause(bounded)
	}
	if err == nil {
		return h, nil
	}
	ended := h.Release()
	if said := strings.TrimPrefix(strings.TrimSpace(h.said.String()), "netdyno: "); said != "" {
		return nil, fmt.Errorf("settings of %s: %s", host.Name, said)
	}
	return nil, errors.Join(fmt.Errorf("settings of %s: %w", host.Name, err), ended)
}

// Release has everything put back, and waits for that.
func (h *Held) Release() error {
	_ = h.in.Close() // it is a pipe: whether it was open or not, it is closed
	select {
	case err := <-h.ended:
		if err != nil {
			return fmt.Errorf("put back the settings of %s: %w; it said: %s; netdyno doctor --put-back there does it", h.host, err, strings.TrimSpace(h.said.String()))
		}
		return nil
	case <-time.After(endTimeout):
		return fmt.Errorf("put back the settings of %s: no end within %v; netdyno doctor --put-back there does it", h.host, endTimeout)
	}
}

// Holder holds one set of settings on all hosts of a rig at a time. One goroutine uses it.
type Holder struct {
	netdyno  string
	settings map[string]string
	held     []*Held
}

// New returns a holder that holds nothing yet; netdyno is the program, a file of this host.
func New(netdyno string) *Holder { return &Holder{netdyno: netdyno} }

// Set makes the settings of the hosts these, and puts back those before. What single
// hosts refuse are rig.HostErrors; then nothing is held anywhere.
func (a *Holder) Set(ctx context.Context, hosts []rig.Host, settings map[string]string) error {
	if maps.Equal(a.settings, settings) {
		return nil
	}
	if err := a.Release(); err != nil || len(settings) == 0 {
		return err
	}
	held := make([]*Held, len(hosts))
	_, err := rig.AtEach(hosts, func(i int) (err error) {
		held[i], err = Start(ctx, hosts[i], a.netdyno, settings)
		return err
	})
	a.held = slices.DeleteFunc(held, func(h *Held) bool { return h == nil })
	if err != nil {
		return errors.Join(err, a.Release())
	}
	a.settings = maps.Clone(settings)
	return nil
}

// Release puts everything back.
func (a *Holder) Release() error {
	failures := make([]error, len(a.held))
	var wait sync.WaitGroup
	for i, h := range a.held {
		wait.Go(func() { failures[i] = h.Release() })
	}
	wait.Wait()
	a.held, a.settings = nil, nil
	return errors.Join(failures...)
}
