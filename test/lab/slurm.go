package lab

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	slurmctldPort     = ":6817"
	slurmdPort        = ":6818"
	slurmstepdProgram = "/usr/sbin/slurmstepd"
	mungeKeyBytes     = 128
)

// slurmConfig is the cluster's; paths, names and addresses are added. Steps are
// tracked by process id and bound to nothing, so that neither cgroups nor real
// CPUs are needed: every node is taken to have the CPUs that its line says.
// The scheduler starts what it can at once, and a killed step is given up soon.
const slurmConfig = `ClusterName=lab
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1,bf_continue
SlurmdParameters=config_overrides
PropagateResourceLimitsExcept=NOFILE
ReturnToService=2
SlurmctldPort=6817
SlurmdPort=6818
SlurmctldDebug=info
SlurmdDebug=info
SlurmdTimeout=10
SlurmctldTimeout=30
MessageTimeout=10
TCPTimeout=3
InactiveLimit=0
KillWait=2
UnkillableStepTimeout=15
BatchStartTimeout=5
CompleteWait=0
`

// Slurm is a cluster: slurmctld in the hub, and a slurmd on each host, which is
// a node of 4 CPUs by the host's name. Its one partition "main" lets jobs share
// nodes. There is no database: sacct knows nothing.
type Slurm struct {
	lab     *Lab
	config  string
	slurmds []*daemon // of host 1, 2, …
}

// Slurm starts a cluster and returns once all nodes are idle.
func (l *Lab) Slurm(t testing.TB) *Slurm {
	t.Helper()
	dir := filepath.Join(l.dir, "slurm")
	s := &Slurm{lab: l, config: filepath.Join(dir, "slurm.conf")}
	if err := s.configure(dir); err != nil {
		t.Fatalf("configure slurm: %v", err)
	}
	munged := &daemon{lab: l, title: "munged", host: hub, log: filepath.Join(dir, "munged.log"),
		argv: []string{"munged", "--foreground", "--force", "--num-threads=2", "--key-file=" + filepath.Join(dir, "munge", "key"),
			"--socket=" + filepath.Join(dir, "munge", "socket"), "--pid-file=" + filepath.Join(dir, "munge", "pid"),
			"--seed-file=" + filepath.Join(dir, "munge", "seed")}}
	slurmctld := &daemon{lab: l, title: "slurmctld", host: hub, log: filepath.Join(dir, "slurmctld.log"),
		argv: []string{"slurmctld", "-D", "-c", "-f", s.config}}
	for host := 1; host <= l.Size(); host++ {
		s.slurmds = append(s.slurmds, &daemon{lab: l, title: "slurmd on " + name(host), host: host,
			argv: []string{"slurmd", "-D", "-f", s.config, "-N", name(host)},
			log:  filepath.Join(dir, "slurmd."+name(host)+".log")})
	}
	for _, d := range slices.Concat([]*daemon{munged, slurmctld}, s.slurmds) {
		d.env, d.tried = s.Env(), true // it may want control groups that the host has not
		d.until(t)
	}
	munged.start(t, func() error {
		return exec.Command("munge", "--no-input", "--output=/dev/null", "--socket="+filepath.Join(dir, "munge", "socket")).Run()
	})
	slurmctld.start(t, func() error { return l.answers(hub, slurmctldPort) })
	for _, d := range s.slurmds {
		d.start(t, func() error { return l.answers(d.host, slurmdPort) })
	}
	for _, d := range s.slurmds {
		d.await(t, func() error { return s.in(d.host, "idle") })
	}
	return s
}

// configure makes the cluster's directories and writes its configuration.
func (s *Slurm) configure(dir string) error {
	at := func(elements ...string) string { return filepath.Join(append([]string{dir}, elements...)...) }
	var b strings.Builder
	b.WriteString(slurmConfig)
	for _, line := range [][2]string{
		{"SlurmctldHost", fmt.Sprintf("%s(%v)", name(hub), address(hub))},
		{"AuthInfo", "socket=" + at("munge", "socket")},
		{"StateSaveLocation", at("state")},
		{"SlurmctldPidFile", at("slurmctld.pid")},
		{"SlurmdPidFile", at("slurmd.%n.pid")},
		{"SlurmdSpoolDir", at("spool", "%n")},
		{"TmpFS", at("tmp", "%n")},
	} {
		fmt.Fprintf(&b, "%s=%s\n", line[0], line[1])
	}
	made := []string{dir, at("munge"), at("state"), at("spool"), at("tmp")}
	for host := 1; host <= s.lab.Size(); host++ {
		n := name(host)
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=%s NodeAddr=%v CPUs=4 RealMemory=1000\n", n, n, address(host))
		made = append(made, at("spool", n), at("tmp", n))
	}
	b.WriteString("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES\n")
	for _, path := range made {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	}
	key := make([]byte, mungeKeyBytes)
	_, _ = rand.Read(key) // it never fails
	for path, text := range map[string]string{
		s.config: b.String(),
		// slurmd reads it although nothing here uses cgroups.
		at("cgroup.conf"):  "CgroupPlugin=cgroup/v1\n",
		at("munge", "key"): string(key),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Env returns what Slurm's commands need in the environment to find the cluster.
func (s *Slurm) Env() []string { return []string{"SLURM_CONF=" + s.config} }

// Command prepares argv to run in the hub, with the cluster in its environment.
func (s *Slurm) Command(argv ...string) *exec.Cmd {
	cmd := s.lab.Command(hub, argv...)
	cmd.Env = append(os.Environ(), s.Env()...)
	return cmd
}

// KillSlurmd kills a host's slurmd at once. Its steps run on, as those of a
// real one do.
func (s *Slurm) KillSlurmd(host int) { s.slurmds[host-1].kill() }

// StartSlurmd starts a host's slurmd after KillSlurmd, and returns once the
// controller takes jobs for the node or runs one there.
func (s *Slurm) StartSlurmd(t testing.TB, host int) {
	t.Helper()
	s.slurmds[host-1].start(t, func() error {
		if err := s.lab.answers(host, slurmdPort); err != nil {
			return err
		}
		return s.in(host, "idle", "mixed", "allocated", "completing")
	})
}

// KillStepd kills every slurmstepd on a host at once, and with them what joins
// the steps' tasks to their srun. There must be one.
func (s *Slurm) KillStepd(t testing.TB, host int) {
	t.Helper()
	if s.lab.kill(t, host, slurmstepdProgram) == 0 {
		t.Fatalf("kill slurmstepd on %s: no step runs there; it runs %v", name(host), s.lab.Processes(t, host))
	}
}

// in says whether the controller has a node in one of the states. A state with
// a mark behind it ("idle*": the node does not respond) is none of them.
func (s *Slurm) in(host int, states ...string) error {
	out, err := s.Command("sinfo", "--noheader", "--nodes="+name(host), "--format=%T").CombinedOutput()
	state := strings.TrimSpace(string(out))
	if err != nil {
		return fmt.Errorf("ask sinfo for %s: %w: %s", name(host), err, state)
	}
	if !slices.Contains(states, state) {
		return fmt.Errorf("%s is %s, not %s", name(host), state, strings.Join(states, " or "))
	}
	return nil
}
