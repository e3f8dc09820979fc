package qemu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/run/rig"
)

const (
	// bootTimeout is for what takes 4 s on an idle host: nothing of a guest runs on
	// the processor itself.
	bootTimeout = 90 * time.Second
	// ports is how many ports are tried for a guest's ssh: another program may take
	// one between our choice and QEMU's.
	ports = 4
)

// What the guest's first process says on its console, and what follows it.
const (
	saysReady  = "netdyno: ready"
	saysFailed = "netdyno: failed: "
)

// The guest's name, and its address on an interface of its own, where both ends are.
const (
	name    = "guest1"
	address = "10.77.0.1"
)

// guest is the guest and the QEMU process that it lives in, which dies with us.
type guest struct {
	image image
	files string // directory here, which the guest sees

	port    int // of this host's loopback, where its sshd is reached
	process *exec.Cmd
	ended   <-chan struct{}
	console *console
}

// boot starts the guest and waits until it can be reached. The error has the end of
// its console.
func (g *guest) boot(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bootTimeout, fmt.Errorf("it was not ready within %v", bootTimeout))
	defer cancel()
	var err error
	for range ports {
		if err = g.start(ctx); err == nil || !strings.Contains(g.console.text(), "host forwarding rule") {
			break
		}
	}
	if err == nil {
		return nil
	}
	if g.process != nil {
		g.end()
	}
	return fmt.Errorf("boot %s: %w; the end of its console: %s", name, err, g.console.text())
}

func (g *guest) start(ctx context.Context) (err error) {
	g.console = newConsole()
	if g.port, err = freePort(); err != nil {
		return err
	}
	g.process = exec.Command("qemu-system-x86_64", g.arguments()...)
	g.process.Stdout, g.process.Stderr = g.console, g.console
	if g.ended, err = rig.StartTied(g.process, syscall.SIGKILL); err != nil {
		return fmt.Errorf("start QEMU: %w", err)
	}
	select {
	case err = <-g.console.verdict:
		return err
	case <-g.ended:
		return fmt.Errorf("QEMU ended (%v)", g.process.ProcessState)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// arguments are QEMU's. The processor is always emulated: /dev/kvm may exist and
// yet run no kernel but its own kind's. The uncompressed kernel boots in half the
// time of the compressed one then.
func (g *guest) arguments() []string {
	const kernel = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable netdyno.data=dummy0 netdyno.host=" + name + " netdyno.address=" + address
	return []string{
		"-accel", "tcg,thread=multi", "-smp", "2", "-m", "1024M",
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", g.image.kernel, "-initrd", g.image.files, "-append", kernel,
		"-netdev", fmt.Sprintf("user,id=control,restrict=on,hostfwd=tcp:127.0.0.1:%d-:22", g.port),
		"-device", "virtio-net-pci,netdev=control,romfile=",
		"-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
		"-virtfs", "local,path=" + escape(g.files) + ",mount_tag=rig,security_model=none,readonly=on",
	}
}

// escape writes a path as a value of QEMU's, where a comma ends it.
func escape(path string) string { return strings.ReplaceAll(path, ",", ",,") }

// gone tells that the guest has ended by itself.
func (g *guest) gone() bool {
	select {
	case <-g.ended:
		return true
	default:
		return false
	}
}

// end takes the guest down. It has nothing that it could lose.
func (g *guest) end() {
	if g.process == nil || g.ended == nil || g.gone() {
		return // its process id may be another's by now
	}
	_ = syscall.Kill(-g.process.Process.Pid, syscall.SIGKILL) // it may be ending by itself
	<-g.ended
}

// freePort is one that nothing listens at just now.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// console reads what the guest says there. Any goroutine may use it.
type console struct {
	verdict chan error // nil once it is ready; an error when it said that it cannot
	tail    rig.Tail

	mu   sync.Mutex
	line []byte // that has no end yet
	told bool
}

func newConsole() *console { return &console{verdict: make(chan error, 1)} }

// maxLine bounds what is kept of a line without an end, in bytes.
const maxLine = 4 << 10

// Write keeps the end of what was said, looks for the guest's verdict, and never fails.
func (c *console) Write(b []byte) (int, error) {
	_, _ = c.tail.Write(b) // never fails
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told {
		return len(b), nil
	}
	c.line = append(c.line, b...)
	for {
		line, rest, ended := bytes.Cut(c.line, []byte("\n"))
		if !ended {
			c.line = c.line[max(0, len(c.line)-maxLine):]
			return len(b), nil
		}
		c.line = rest
		text := strings.TrimSpace(string(line))
		if reason, failed := strings.CutPrefix(text, saysFailed); failed {
			c.tell(errors.New(printable.Text(reason)))
		} else if text == saysReady {
			c.tell(nil)
		}
	}
}

func (c *console) tell(err error) {
	if !c.told {
		c.told = true
		c.verdict <- err
	}
}

// text is the end of what was said, fit for a terminal.
func (c *console) text() string {
	const keep = 1200
	text := strings.TrimSpace(printable.Text(c.tail.String()))
	if len(text) > keep {
		text = "… " + text[len(text)-keep:]
	}
	if text == "" {
		return "(it said nothing)"
	}
	return text
}

// Files in the rig's directory, which the guests see: they are no strangers to this
// host, whose files are theirs to read.
const (
	clientKey  = "key"      // ours, by which guests let us in
	allowed    = "key.pub"  // what a guest lets in
	guestKey   = "host-key" // by which we know a guest, in dropbear's form
	knownHosts = "known-hosts"
	configFile = "config"
)

// makeKeys makes this run's keys: guests let in nobody else, and we let nobody else
// pass for a guest.
func makeKeys(ctx context.Context, directory string) error {
	here := rig.Host{Name: "this host"}
	at := func(name string) string { return filepath.Join(directory, name) }
	if _, err := here.Ask(ctx, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "netdyno", "-f", at(clientKey)); err != nil {
		return err
	}
	said, err := here.Ask(ctx, nil, "dropbearkey", "-t", "ed25519", "-f", at(guestKey))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(said)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "ssh-ed25519" {
			return os.WriteFile(at(knownHosts), fmt.Appendf(nil, "guest %s %s\n", fields[0], fields[1]), 0o600)
		}
	}
	return fmt.Errorf("make a guest's key: dropbearkey printed no line of type ssh-ed25519, but %.200q", said)
}

// writeConfig writes ssh's configuration and returns its name.
func writeConfig(directory string, port int) (string, error) {
	text := fmt.Sprintf(`Host %s
  HostName 127.0.0.1
  Port %d
  User root
  HostKeyAlias guest
  IdentityFile %q
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile %q
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`, name, port, filepath.Join(directory, clientKey), filepath.Join(directory, knownHosts))
	file := filepath.Join(directory, configFile)
	return file, os.WriteFile(file, []byte(text), 0o600)
}
