// Package openssh is the rig of hosts that the user's own OpenSSH reaches: its
// configuration, keys, agent, jump hosts and host-key checks are the user's.
// One connection to each host carries everything, and netdyno's programs go
// with it (package remote).
package openssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/remote"
)

// Rig implements rig.Rig, rig.Deployer and rig.Recoverer.
type Rig struct {
	*remote.Rig
	masters []*master
	redial  []func(ctx context.Context) (*master, error)
	sockets *remote.Temporary // directory of the masters' control sockets, here
}

// connect opens a connection to every host, all at once, by a configuration file of ssh's; ""
// for the user's own.
func (r *Rig) connect(ctx context.Context, described []rig.Described, config string) ([]rig.Host, error) {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return nil, fmt.Errorf("%w (package openssh-client has it)", err)
	}
	// A socket's path may have 107 bytes (unix(7)); the directory's is short.
	if r.sockets, err = remote.NewTemporary(ctx, rig.Host{Name: "this host"}); err != nil {
		return nil, err
	}
	hosts := make([]rig.Host, len(described))
	r.masters = make([]*master, len(described))
	r.redial = make([]func(context.Context) (*master, error), len(described))
	var group errgroup.Group
	for i, h := range described {
		group.Go(func() (err error) {
			socket := filepath.Join(r.sockets.Path(), fmt.Sprint(i))
			options := []string{"-S", socket}
			if config != "" {
				options = append(options, "-F", config)
			}
			r.redial[i] = func(ctx context.Context) (*master, error) {
				// Of a master that was killed it stays, and ssh does not always remove it.
				if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				return dial(ctx, ssh, options, h.SSH)
			}
			if r.masters[i], err = r.redial[i](ctx); err != nil {
				return err
			}
			hosts[i], err = hostOf(ctx, h, slices.Concat([]string{ssh}, options, multiplexed, []string{"--", h.SSH}))
			return err
		})
	}
	return hosts, group.Wait()
}

// multiplexed are a session's options: over the master's connection or not at
// all, without a terminal, asking nothing. Without a master ssh would connect
// anew for every session, and a trial would pay for it; the proxy is what it
// would connect through (ssh_config(5), ProxyCommand, which keeps a ProxyJump
// of the user's out).
var multiplexed = []string{
	"-T", "-o", "ControlMaster=no", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ClearAllForwardings=yes",
	"-o", "ProxyCommand=sh -c 'echo no connection is open to this host any more >&2; exit 1'",
}

// hostOf asks a host for the address that ssh came to: an address that servers
// can bind there, and of the network that the user's ssh uses.
func hostOf(ctx context.Context, named rig.Described, prefix []string) (rig.Host, error) {
	h := rig.Host{Name: named.Title(), Address: named.Address, Prefix: prefix, Shell: true, CPUs: named.CPUs()}
	if h.Address == "" && named.Interface == "" {
		answer, err := h.Ask(ctx, nil, "sh", "-c", `printf '%s\n' "$SSH_CONNECTION"`)
		if err != nil {
			return h, err
		}
		// sshd(8): client address, client port, server address, server port.
		fields := strings.Fields(string(answer))
		if len(fields) != 4 {
			return h, fmt.Errorf("find the address of %s: its SSH_CONNECTION is %q, expected two addresses with ports; if its shell prints something at login, stop it from doing so; otherwise name the address: %s=ADDRESS", named.SSH, strings.TrimSpace(string(answer)), named.SSH)
		}
		h.Address = fields[2]
	}
	return h, h.ResolveAddress(ctx, named.Interface)
}

// Recover implements rig.Recoverer: hosts that do not answer are connected anew.
func (r *Rig) Recover(ctx context.Context) error {
	hosts := r.Hosts()
	reached, lost := rig.AtEach(hosts, func(i int) (err error) {
		old := r.masters[i]
		if old != nil && !old.gone() && answers(ctx, hosts[i]) {
			return nil
		}
		if old != nil {
			old.end()
		}
		r.masters[i], err = again(ctx, r.redial[i])
		return err
	})
	// What the rig says of a host that ssh does not reach follows from that.
	return errors.Join(lost, rig.ErrorOf(r.Rig.Recover(ctx), reached...))
}

// again connects to a host that was reached before. Its sshd may be about to
// start, so it is given a while.
func again(ctx context.Context, dial func(context.Context) (*master, error)) (*master, error) {
	const timeout, wait = 10 * time.Second, 500 * time.Millisecond
	for begun := time.Now(); ; {
		m, err := dial(ctx)
		if err == nil || ctx.Err() != nil || time.Since(begun) > timeout {
			return m, err
		}
		time.Sleep(wait)
	}
}

// answers tells whether a host runs a command within a time that is long for
// one.
func answers(ctx context.Context, h rig.Host) bool {
	const timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := h.Ask(ctx, nil, "true")
	return err == nil
}

// Close implements rig.Rig: what was delivered goes first, then the connections.
func (r *Rig) Close() error {
	var err error
	if r.Rig != nil {
		err = r.Rig.Close()
	}
	for _, m := range r.masters {
		if m != nil {
			m.end()
		}
	}
	r.masters = nil
	if r.sockets != nil {
		err = errors.Join(err, r.sockets.Close())
		r.sockets = nil
	}
	return err
}

// Kind is the rig of hosts behind ssh, as users choose it.
var Kind = rig.Kind{
	Name: "ssh", Form: "ssh:HOST[=ADDRESS],HOST[=ADDRESS]…[?interface=NAME&config=FILE]",
	Options: []string{"interface", "config"}, HostKey: "ssh", Build: build,
}

// build connects to the hosts of a file, or to HOST[=ADDRESS],….
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	described := c.Hosts
	if len(described) == 0 {
		var err error
		if described, err = listed(c); err != nil {
			return nil, err
		}
	}
	if len(described) > rig.MaxHosts {
		return nil, c.Errorf("%d hosts; expected at most %d", len(described), rig.MaxHosts)
	}
	for i := range described {
		described[i].Interface = cmp.Or(described[i].Interface, c.Options["interface"])
	}
	r := &Rig{}
	hosts, err := r.connect(ctx, described, c.Options["config"])
	r.Rig = remote.New(c.Name, hosts, false)
	if err != nil {
		return nil, fmt.Errorf("rig %s: %w", c.Name, errors.Join(err, r.Close()))
	}
	return r, nil
}

// listed reads HOST[=ADDRESS],….
func listed(c rig.Choice) ([]rig.Described, error) {
	var all []rig.Described
	seen := map[string]bool{}
	for item := range strings.SplitSeq(c.Argument, ",") {
		destination, address, _ := strings.Cut(item, "=")
		switch {
		case destination == "", strings.HasPrefix(destination, "-"): // ssh would take a leading dash for an option
			return nil, c.Errorf("%q is not a host; expected %s", item, c.Form)
		case seen[destination]:
			return nil, c.Errorf("two hosts are named %s", destination)
		}
		seen[destination] = true
		all = append(all, rig.Described{SSH: destination, Address: address})
	}
	return all, nil
}
