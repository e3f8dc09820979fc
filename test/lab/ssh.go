package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	sshdProgram = "/usr/sbin/sshd" // sshd starts itself again by its full path
	sshPort     = ":22"
)

// sshdConfig is every host's; the keys' paths are added. The limits are out of the
// way of tests that open many connections.
const sshdConfig = `Port 22
AddressFamily inet
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 1000
MaxSessions 100
PidFile none
Subsystem sftp internal-sftp
`

// SSH is an sshd on each host, which lets root in with one key. What its sessions
// write to a temporary directory lies in that of the laboratory.
type SSH struct {
	// Config is the path of a client configuration that knows the hosts by name.
	// Commands on the laboratory's hosts find it in the place of the machine's, so
	// that a bare ssh follows it too, after the user's own. It sets no time limits:
	// netdyno has to bring its own.
	Config string

	lab     *Lab
	daemons []*daemon // of host 1, 2, …
}

// SSH starts an sshd on each host and returns once all accept connections.
func (l *Lab) SSH(t testing.TB) *SSH {
	t.Helper()
	dir := filepath.Join(l.dir, "ssh")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Where sshd separates privileges. It belongs to the package, whose unit makes
	// it where there is an init; it stays, as other tests may use it by now.
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	s := &SSH{Config: filepath.Join(dir, "config"), lab: l}
	if err := s.configure(dir); err != nil {
		t.Fatalf("configure ssh: %v", err)
	}
	for host := 1; host <= l.Size(); host++ {
		d := &daemon{lab: l, title: "sshd on " + name(host), host: host,
			argv: []string{sshdProgram, "-D", "-e", "-f", filepath.Join(dir, "sshd_config")},
			log:  filepath.Join(dir, "sshd."+name(host)+".log")}
		s.daemons = append(s.daemons, d)
		d.until(t)
		s.Start(t, host)
	}
	return s
}

// configure writes the keys and the configuration of both ends.
func (s *SSH) configure(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"hostkey", "id"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(key)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("make a key: %w: %s", err, out)
		}
	}
	public, err := os.ReadFile(at("hostkey.pub"))
	if err != nil {
		return err
	}
	var known, config strings.Builder
	fmt.Fprintf(&config, "Host node*\n  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n  BatchMode yes\n"+
		"  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n  LogLevel ERROR\n",
		at("id"), at("known_hosts"))
	for host := 1; host <= s.lab.Size(); host++ {
		fmt.Fprintf(&known, "%s,%v %s", name(host), address(host), public)
		fmt.Fprintf(&config, "Host %s\n  HostName %v\n", name(host), address(host))
	}
	for path, text := range map[string]string{
		s.Config:          config.String(),
		at("known_hosts"): known.String(),
		at("sshd_config"): fmt.Sprintf("%sHostKey %s\nAuthorizedKeysFile %s\nSetEnv TMPDIR=%s\n", sshdConfig, at("hostkey"), at("id.pub"), s.lab.Temporary()),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Start starts a host's sshd after Kill, and returns once it accepts connections.
func (s *SSH) Start(t testing.TB, host int) {
	t.Helper()
	s.daemons[host-1].start(t, func() error {
		return s.lab.answers(host, sshPort)
	})
}

// Sshd returns the process id of a host's sshd; 0 when it does not run.
func (s *SSH) Sshd(host int) int { return s.daemons[host-1].pid() }

// Kill kills a host's sshd and its sessions at once. What the sessions started
// is not killed, as it would not be on a real host.
func (s *SSH) Kill(t testing.TB, host int) {
	t.Helper()
	s.daemons[host-1].kill()
	s.lab.kill(t, host, sshdProgram)
}

// answers says whether a port of a host takes a connection of its own.
func (l *Lab) answers(host int, port string) error {
	conn, err := l.Dial(host, l.Address(host)+port, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}
