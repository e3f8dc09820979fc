// Package containers is the rig of containers on this host, by podman or docker, with CPUs and
// memory of their own. Their image is empty: this host's programs and libraries are mounted in
// each, read-only, at the same paths, and no registry is asked.
//
// A container lives as long as the stdin of the command that runs it, which ends with this
// process, however it ends; and a shell that waits for the same end removes containers and
// image.
package containers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// startTimeout is for an empty image, and for a container.
const startTimeout = time.Minute

// clean removes containers and image: a container whose command was killed in the middle of starting,
// or that its runtime has not removed, is no longer anybody's. What is not there is not
// missed.
const clean = `program=$1 image=$2
shift 2
for name; do
  "$program" kill "$name"
  "$program" rm -f "$name"
done >/dev/null 2>&1
"$program" rmi "$image" >/dev/null 2>&1
for name; do
  if "$program" container inspect "$name" >/dev/null 2>&1; then echo "container $name"; fi
done
if "$program" image inspect "$image" >/dev/null 2>&1; then echo "image $image"; fi`

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
	boxes   []*rig.Held // as hosts; nil where none stands
	remover *rig.Remover
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
	r.boxes = make([]*rig.Held, len(r.hosts))
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

// Deploy implements rig.Deployer: it makes the containers, in which the files lie where they
// lie here.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	if err := r.deploy(ctx, files); err != nil {
		return fmt.Errorf("rig %s: %w", r.Name(), err)
	}
	return nil
}

func (r *Rig) deploy(ctx context.Context, files []string) (err error) {
	if r.remover != nil {
		return errors.New("it was deployed before")
	}
	names := make([]string, len(r.hosts))
	for i := range r.hosts {
		names[i] = r.nameOf(i)
	}
	if r.remover, err = rig.StartRemover(clean, append([]string{r.program, r.tag()}, names...)...); err != nil {
		return err
	}
	if err := r.makeImage(ctx); err != nil {
		return err
	}
	var starting errgroup.Group
	for i := range r.hosts {
		starting.Go(func() error {
			if err := r.start(ctx, i, mounts(files)); err != nil {
				return fmt.Errorf("start %s: %w", r.hosts[i].Name, err)
			}
			return nil
		})
	}
	return starting.Wait()
}

// makeImage makes an empty image. When this process is killed the making goes on to its end:
// it says what it says into memory, as a pipe would break under it, and holds the remover
// back, which otherwise would come too early.
func (r *Rig) makeImage(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not done within %v", startTimeout))
	defer cancel()
	number, err := unix.MemfdCreate("import", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	said := os.NewFile(uintptr(number), "import")
	defer said.Close()
	c := exec.CommandContext(ctx, r.program, "import", "-", r.tag())
	const end = 1024 // bytes of zero are an archive of nothing (tar(5))
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = bytes.NewReader(make([]byte, end)), said, said, []*os.File{r.remover.Hold}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Run(); err != nil {
		text := make([]byte, 4<<10)
		n, _ := said.ReadAt(text, 0) // io.EOF of a short one
		return fmt.Errorf("%s import: %w; it said: %s", r.options.Program, cmp.Or(context.Cause(ctx), err), bytes.TrimSpace(text[:n]))
	}
	return nil
}

// system is where this host's programs and libraries are.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache"}

// mounts are arguments that make this host's programs, and the directories of some files, seen
// in a container.
func mounts(files []string) (argv []string) {
	places := slices.Clone(system)
	for _, file := range files {
		places = append(places, filepath.Dir(file))
	}
	var seen []string
	for _, place := range places {
		inside := slices.ContainsFunc(seen, func(outer string) bool { return place == outer || strings.HasPrefix(place, outer+"/") })
		if _, err := os.Stat(place); err != nil || inside {
			continue // not every system has all of them
		}
		seen = append(seen, place)
		argv = append(argv, "--mount=type=bind,src="+place+",dst="+place+",ro")
	}
	return argv
}

// start runs container i and finds its address.
func (r *Rig) start(ctx context.Context, i int, mounted []string) error {
	var err error
	argv := append([]string{r.program}, r.arguments(i, mounted)...)
	if r.boxes[i], err = rig.Hold(ctx, startTimeout, syscall.SIGKILL, argv...); err != nil {
		return err
	}
	h := &r.hosts[i]
	if r.networkOf(i) == hostNetwork {
		local := rig.Loopback{}.Hosts()[0]
		h.Address, h.Sources = local.Address, local.Sources
		return nil
	}
	said, err := r.ask(ctx, nil, "inspect", "--format={{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", r.nameOf(i))
	if err != nil {
		return err
	}
	addresses := strings.Fields(string(said))
	if len(addresses) == 0 {
		return fmt.Errorf("it has no IPv4 address on network %s", r.networkOf(i))
	}
	h.Address, h.Sources = addresses[0], addresses[:1]
	return nil
}

// Recover implements rig.Recoverer: nothing but its first process is left in any container.
// One that has ended stays so, as another would have another address.
func (r *Rig) Recover(ctx context.Context) error {
	_, err := rig.AtEach(r.hosts[:len(r.boxes)], func(i int) error {
		if r.boxes[i] == nil {
			return nil
		}
		if err := r.boxes[i].Err(); err != nil {
			return err
		}
		_, err := r.hosts[i].Ask(ctx, nil, "sh", "-c", "kill -9 -1 2>/dev/null || true") // all but the first process and who kills (kill(2))
		return err
	})
	return err
}

// Close implements rig.Rig: containers and image are removed.
func (r *Rig) Close() error {
	var closing errgroup.Group
	for i, b := range r.boxes {
		if b == nil {
			continue
		}
		r.boxes[i] = nil
		closing.Go(b.Release)
	}
	err := closing.Wait()
	if r.remover != nil {
		err = errors.Join(err, r.remover.Remove())
		r.remover = nil
	}
	return err
}
