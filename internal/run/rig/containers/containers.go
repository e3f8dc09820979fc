// Package containers is the rig of containers on this host, by podman or docker. They are
// made from an image of netdyno's own programs, which is built here and asks no registry,
// with CPUs and memory of their own.
//
// A container lives as long as the stdin of the command that runs it, which ends with this
// process, however it ends; and a shell that waits for the same end removes containers and
// image.
package containers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
	"netdyno/internal/run/rig"
)

// MaxHosts is how many containers a rig may have.
const MaxHosts = 64

// Networks: that of the machine itself, and the one of a container unless another is named.
const (
	hostNetwork     = "host"
	standardNetwork = "bridge"
)

const (
	loadTimeout  = 5 * time.Minute  // for an image, also where the disk is slow
	startTimeout = time.Minute      // for a container
	sweepTimeout = 10 * time.Second // for what is left in one
	closeTimeout = time.Minute      // for all to be removed
)

// Options of a rig.
type Options struct {
	Program string // "podman" or "docker"
	Hosts   int
	Network string // hostNetwork, standardNetwork, or another that exists; empty for the standard
	Bounds  string // in the rig's name: "cpus=1&memory=1GiB"

	CPUs        int    // that each container has to itself; 0 for all, shared
	Quota       string // CPUs' time that each may use, "0.5"; empty for all
	MemoryBytes int64  // that each may use; 0 for all
}

// Rig implements rig.Rig, rig.Deployer and rig.Recoverer. One goroutine at a time may use it.
type Rig struct {
	options Options
	several bool   // networks, which trials name
	program string // path of podman or docker
	run     string // begins the names of everything of this run
	hosts   []rig.Host
	boxes   []*box // as hosts; nil where none stands
	remover *remover
}

// box is one running container.
type box struct {
	command *exec.Cmd
	input   io.WriteCloser // its end is the container's
	output  *os.File
	ended   <-chan struct{}
	said    rig.Tail
}

// New looks whether the program is there and answers. Containers come with Deploy.
func New(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{options: o, run: rig.RunName()}
	var err error
	if r.program, err = exec.LookPath(o.Program); err != nil {
		return nil, fmt.Errorf("rig %s: %s is not installed; install it (Debian: sudo apt-get install %s), or take another rig, such as netns", r.Name(), o.Program, debian[o.Program])
	}
	if _, err := r.ask(ctx, nil, "version"); err != nil {
		return nil, fmt.Errorf("rig %s: %w", r.Name(), err)
	}
	usable := cpuset.Of(0)
	if need := o.CPUs * o.Hosts; need > len(usable) {
		return nil, fmt.Errorf("rig %s: %d containers with cpus=%d of their own need %d CPUs, and %d may be used here; take fewer, or leave cpus out: quota=%d bounds their time alone", r.Name(), o.Hosts, o.CPUs, need, len(usable), o.CPUs)
	}
	r.plan("container", "")
	return r, nil
}

// plan adds one container for each host of the rig, on a network; "" for the rig's own.
func (r *Rig) plan(name, network string) {
	usable, own := cpuset.Of(0), r.options.CPUs
	for i := range r.options.Hosts {
		h := rig.Host{Name: fmt.Sprintf("%s%d", name, i+1), CPUs: usable, BootID: "this host", Network: network}
		if own > 0 {
			h.CPUs = usable[i*own : (i+1)*own : (i+1)*own]
		}
		h.Prefix = []string{r.program, "exec", "-i", r.nameOf(len(r.hosts))}
		r.hosts = append(r.hosts, h)
	}
	r.boxes = make([]*box, len(r.hosts))
}

// Networks implements rig.Networked.
func (r *Rig) Networks() []string { return []string{hostNetwork, standardNetwork} }

// On implements rig.Networked: every network has containers of its own, which share CPUs
// with those of the others.
func (r *Rig) On(networks []string) error {
	if r.options.Network != "" {
		return rig.NamedTwice(r, networks)
	}
	r.several, r.hosts = true, nil
	for _, name := range networks {
		if err := checkNetwork(r.options.Program, name); err != nil {
			return fmt.Errorf("rig %s: %w", r.Name(), err)
		}
		r.plan(name+"-", name)
	}
	return nil
}

// networkOf is the network of container i.
func (r *Rig) networkOf(i int) string {
	return cmp.Or(r.hosts[i].Network, r.options.Network, standardNetwork)
}

// debian names the packages.
var debian = map[string]string{"podman": "podman", "docker": "docker.io"}

func (r *Rig) nameOf(i int) string { return fmt.Sprintf("%s-%d", r.run, i+1) }

// tag is the image's name.
func (r *Rig) tag() string { return "localhost/netdyno:" + r.run }

// Name implements rig.Rig. It has everything that bears on figures and is no level.
func (r *Rig) Name() string {
	network := ""
	if !r.several {
		network = "network=" + cmp.Or(r.options.Network, standardNetwork)
	}
	return rig.Named(r.options.Program, r.options.Hosts, network, r.options.Bounds)
}

// Hosts implements rig.Rig.
func (r *Rig) Hosts() []rig.Host { return slices.Clone(r.hosts) }

// ask runs podman or docker here.
func (r *Rig) ask(ctx context.Context, input io.Reader, argv ...string) ([]byte, error) {
	return rig.Host{Name: "this host"}.Ask(ctx, input, append([]string{r.program}, argv...)...)
}

// Deploy implements rig.Deployer: it makes an image of the files, and the containers.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	if err := r.deploy(ctx, files); err != nil {
		return fmt.Errorf("rig %s: %w", r.Name(), err)
	}
	return nil
}

func (r *Rig) deploy(ctx context.Context, files []string) error {
	if r.remover != nil {
		return errors.New("it was deployed before")
	}
	made, err := newImage(ctx, files)
	if err != nil {
		return fmt.Errorf("make an image: %w", err)
	}
	names := make([]string, len(r.hosts))
	for i := range r.hosts {
		names[i] = r.nameOf(i)
	}
	if r.remover, err = startRemover(r.program, r.tag(), names); err != nil {
		return err
	}
	if err := r.load(ctx, made); err != nil {
		return err
	}
	self := made.there[files[len(files)-1]] // netdyno itself comes last
	var starting errgroup.Group
	for i := range r.hosts {
		starting.Go(func() error {
			if err := r.start(ctx, i, self); err != nil {
				return fmt.Errorf("start %s: %w", r.hosts[i].Name, err)
			}
			r.hosts[i].Files = made.there
			return nil
		})
	}
	return starting.Wait()
}

// load hands the image over through a pipe. When this process is killed the loading goes on
// to its end, with its temporary files: it says what it says into memory, as a pipe would
// break under it, and holds the remover back, which otherwise would come too early.
func (r *Rig) load(ctx context.Context, m *image) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadTimeout, fmt.Errorf("the image was not taken within %v", loadTimeout))
	defer cancel()
	number, err := unix.MemfdCreate("load", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	said := os.NewFile(uintptr(number), "load")
	defer said.Close()
	c := exec.CommandContext(ctx, r.program, "load")
	c.Stdout, c.Stderr, c.ExtraFiles = said, said, []*os.File{r.remover.hold}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	to, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	written := errors.Join(m.archive(to, r.tag()), to.Close())
	if err := c.Wait(); err != nil {
		text := make([]byte, 4<<10)
		n, _ := said.ReadAt(text, 0) // io.EOF of a short one
		return fmt.Errorf("%s load: %w; it said: %s", r.options.Program, cmp.Or(context.Cause(ctx), err), bytes.TrimSpace(text[:n]))
	}
	return written
}

// start runs container i and waits for the word of its first process.
func (r *Rig) start(ctx context.Context, i int, self string) error {
	b := &box{command: exec.Command(r.program, r.arguments(i, self)...)}
	b.command.Stderr = &b.said
	in, err := b.command.StdinPipe()
	if err != nil {
		return err
	}
	out, theirs, err := os.Pipe() // exec's own would be closed with the command's end, unread
	if err != nil {
		return err
	}
	b.input, b.output, b.command.Stdout = in, out, theirs
	b.ended, err = rig.StartTied(b.command, syscall.SIGKILL)
	_ = theirs.Close() // nothing is buffered in it
	if err != nil {
		return errors.Join(err, out.Close())
	}
	r.boxes[i] = b
	line, err := b.hear(ctx, startTimeout)
	var word first
	if err == nil {
		err = json.Unmarshal([]byte(line), &word)
	}
	if err != nil {
		return b.failure(err)
	}
	h := &r.hosts[i]
	if r.networkOf(i) == hostNetwork {
		local := rig.Loopback{}.Hosts()[0]
		h.Address, h.Sources = local.Address, local.Sources
		return nil
	}
	if len(word.Addresses) == 0 {
		return fmt.Errorf("it has no IPv4 address on network %s", r.networkOf(i))
	}
	h.Address, h.Sources = word.Addresses[0], word.Addresses[:1]
	return nil
}

// hear returns the next line of the first process.
func (b *box) hear(ctx context.Context, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no word of its first process within %v", timeout))
	defer cancel()
	line, err := rig.FirstLine(ctx, b.output)
	if errors.Is(err, io.EOF) {
		err = errors.New("its first process has ended")
	}
	return line, err
}

// failure adds to an error what podman or docker said, once that is known.
func (b *box) failure(err error) error {
	select {
	case <-b.ended:
		err = fmt.Errorf("%w (%v)", err, b.command.ProcessState)
	case <-time.After(time.Second):
	}
	if text := strings.TrimSpace(b.said.String()); text != "" {
		err = fmt.Errorf("%w; it said: %s", err, text)
	}
	return err
}

// Recover implements rig.Recoverer: nothing but its first process is left in any container.
// One that has ended stays so, as another would have another address.
func (r *Rig) Recover(ctx context.Context) error {
	failed := make([]error, len(r.boxes))
	var sweeping errgroup.Group
	for i, b := range r.boxes {
		if b == nil {
			continue
		}
		sweeping.Go(func() error {
			_, err := b.input.Write([]byte("\n"))
			line := ""
			if err == nil {
				line, err = b.hear(ctx, sweepTimeout)
			}
			if err == nil && line != swept {
				err = fmt.Errorf("its first process says %.200q, expected %q", line, swept)
			}
			if err != nil {
				failed[i] = &rig.HostError{Host: r.hosts[i].Name, Err: b.failure(err)}
			}
			return nil
		})
	}
	_ = sweeping.Wait() // failed has them all
	return errors.Join(failed...)
}

// Close implements rig.Rig: containers and image are removed.
func (r *Rig) Close() error {
	var closing errgroup.Group
	for i, b := range r.boxes {
		if b == nil {
			continue
		}
		r.boxes[i] = nil
		closing.Go(func() error {
			_ = b.input.Close() // its command may have ended
			select {
			case <-b.ended:
			case <-time.After(closeTimeout):
				_ = syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL) // what it runs is removed below
				<-b.ended
			}
			return b.output.Close()
		})
	}
	err := closing.Wait()
	if r.remover != nil {
		err = errors.Join(err, r.remover.remove())
		r.remover = nil
	}
	return err
}
