package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
)

const (
	// commandTimeout bounds a question to the controller; its own MessageTimeout
	// is 10 s as a rule.
	commandTimeout = 30 * time.Second
	// queueTimeout is how long an allocation may wait in the queue.
	queueTimeout = 30 * time.Minute
)

// allocation is a job and, when it is ours, the salloc that holds it.
type allocation struct {
	id    string
	nodes []string
	cpus  []int // of each node that the job has
	held  *exec.Cmd
	hold  io.Closer
	ended <-chan struct{}
}

// own returns the allocation that this process runs in.
func own(ctx context.Context, job string) (*allocation, error) {
	a := &allocation{id: job}
	return a, a.describe(ctx, os.Getenv("SLURM_JOB_NODELIST"), os.Getenv("SLURM_JOB_CPUS_PER_NODE"))
}

// announce runs under salloc: the script prints what was granted and holds
// the allocation until its stdin ends: when this process is gone, however it
// ended.
const announce = `printf '%s\t%s\t%s\n' "$SLURM_JOB_ID" "$SLURM_JOB_NODELIST" "$SLURM_JOB_CPUS_PER_NODE"; exec cat >/dev/null`

// ask waits for an allocation of our own.
func ask(ctx context.Context, o Options) (*allocation, error) {
	salloc, err := exec.LookPath("salloc")
	if err != nil {
		return nil, fmt.Errorf("%w (package slurm-client has it)", err)
	}
	argv := []string{"--nodes=" + strconv.Itoa(o.Nodes), "--ntasks-per-node=1", "--exclusive", "--job-name=netdyno", "--quiet"}
	for _, key := range keys(o.Request) {
		argv = append(argv, "--"+key+"="+o.Request[key])
	}
	a := &allocation{held: exec.Command(salloc, append(argv, "sh", "-c", announce)...)}
	var said rig.Tail
	a.held.Stderr = &said
	stdin, err := a.held.StdinPipe()
	if err != nil {
		return nil, err
	}
	a.hold = stdin
	stdout, err := a.held.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// The signal is for a request that is still in the queue; a granted one ends
	// with its command. SIGTERM, which salloc(1) passes to that command, was seen
	// to leave salloc hanging beside a job long given back.
	if a.ended, err = rig.StartTied(a.held, syscall.SIGHUP); err != nil {
		return nil, fmt.Errorf("start salloc: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, queueTimeout, fmt.Errorf("still in the queue after %v", queueTimeout))
	defer cancel()
	granted, err := rig.FirstLine(ctx, stdout)
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		err = errors.New("no allocation was granted")
	}
	if err != nil {
		released := a.release()
		return nil, fmt.Errorf("ask Slurm for %d nodes: %w; salloc said: %s", o.Nodes, errors.Join(err, released), strings.TrimSpace(said.String()))
	}
	fields := strings.Split(granted, "\t")
	if len(fields) != 3 {
		return a, fmt.Errorf("salloc's command answered %q, expected job, nodes and CPUs", granted)
	}
	a.id = fields[0]
	return a, a.describe(ctx, fields[1], fields[2])
}

// release gives an allocation of our own back; one that we were in stays.
func (a *allocation) release() error {
	if a.held == nil {
		return nil
	}
	const timeout = 10 * time.Second
	_ = a.hold.Close() // salloc's command ends with it
	select {
	case <-a.ended:
		return nil
	case <-time.After(timeout):
	}
	_ = syscall.Kill(-a.held.Process.Pid, syscall.SIGKILL) // it may be ending by itself
	<-a.ended
	if a.id == "" {
		return nil
	}
	_, err := command(context.Background(), "scancel", a.id)
	return err
}

// describe fills in what Slurm writes in short: "n[1-3]" and "4(x3)".
func (a *allocation) describe(ctx context.Context, nodes, cpus string) error {
	out, err := command(ctx, "scontrol", "show", "hostnames", nodes)
	if err != nil {
		return err
	}
	a.nodes = strings.Fields(out)
	if a.cpus, err = perNode(cpus); err != nil {
		return err
	}
	if len(a.nodes) == 0 || len(a.cpus) != len(a.nodes) {
		return fmt.Errorf("describe Slurm job %s: nodes %q with CPUs %q; expected a count for each node", a.id, nodes, cpus)
	}
	return nil
}

// perNode reads SLURM_JOB_CPUS_PER_NODE: "72(x2),36".
func perNode(text string) ([]int, error) {
	const maxNodes = 1 << 16
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		count, repeat, repeated := strings.Cut(strings.TrimSuffix(part, ")"), "(x")
		n, err := strconv.Atoi(count)
		times := 1
		if repeated && err == nil {
			times, err = strconv.Atoi(repeat)
		}
		if err != nil || n < 1 || times < 1 || len(all)+times > maxNodes {
			return nil, fmt.Errorf("CPUs per node %q: %q is not a count such as 4 or 4(x3)", text, part)
		}
		all = append(all, slices.Repeat([]int{n}, times)...)
	}
	return all, nil
}

// host is one node of the job.
func (a *allocation) host(ctx context.Context, srun, node string, known Node) (rig.Host, error) {
	cpus := a.cpus[slices.Index(a.nodes, node)]
	h := rig.Host{Name: node, Prefix: prefix(srun, a.id, node, cpus), Address: known.Address, CPUs: known.CPUs}
	if h.Address == "" && known.Interface == "" {
		var err error
		if h.Address, err = addressOf(ctx, node); err != nil {
			return h, err
		}
	}
	return h, h.ResolveAddress(ctx, known.Interface)
}

// addressOf returns the address that Slurm has of a node: NodeAddr, which is a
// name or a number.
func addressOf(ctx context.Context, node string) (string, error) {
	out, err := command(ctx, "scontrol", "--oneliner", "show", "node", node)
	if err != nil {
		return "", err
	}
	for field := range strings.FieldsSeq(out) {
		name, found := strings.CutPrefix(field, "NodeAddr=")
		if !found {
			continue
		}
		addresses, err := new(net.Resolver).LookupIP(ctx, "ip4", name)
		if err != nil || len(addresses) == 0 {
			return "", fmt.Errorf("address of node %s: %w; a rig file can name the addresses of the data network", node, err)
		}
		return addresses[0].String(), nil
	}
	return "", fmt.Errorf("address of node %s: scontrol shows no NodeAddr", node)
}

// step is one running command of the job.
type step struct {
	id   string // "JOB.STEP"
	node string
}

// steps returns the job's running steps of a name.
func (a *allocation) steps(ctx context.Context, name string) ([]step, error) {
	out, err := command(ctx, "squeue", "--noheader", "--steps", "--job="+a.id, "--format=%i %j %N")
	if err != nil {
		return nil, err
	}
	var found []step
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[1] == name {
			found = append(found, step{fields[0], fields[2]})
		}
	}
	return found, nil
}

// command asks one of Slurm's programs and returns what it printed.
func command(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said rig.Tail
	c.Stderr, c.WaitDelay = &said, time.Second
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w; it said: %s", argv[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}
