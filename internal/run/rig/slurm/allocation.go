package slurm

import (
	"context"
	"fmt"
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

// allocation is a job and, when it is ours, the salloc that holds it; nil where it is not.
type allocation struct {
	id    string
	nodes []string
	cpus  []int // of each node that the job has
	held  *rig.Held
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
func ask(ctx context.Context, c rig.Choice, nodes int) (*allocation, error) {
	salloc, err := exec.LookPath("salloc")
	if err != nil {
		return nil, fmt.Errorf("%w (package slurm-client has it)", err)
	}
	argv := []string{"--nodes=" + strconv.Itoa(nodes), "--ntasks-per-node=1", "--exclusive", "--job-name=netdyno", "--quiet"}
	for _, key := range requested(c) {
		argv = append(argv, "--"+key+"="+c.Options[key])
	}
	// The signal is for a request that is still in the queue; a granted one ends
	// with its command. SIGTERM, which salloc(1) passes to that command, was seen
	// to leave salloc hanging beside a job long given back.
	a := &allocation{}
	a.held, err = rig.Hold(ctx, queueTimeout, syscall.SIGHUP, append(append([]string{salloc}, argv...), "sh", "-c", announce)...)
	if err != nil {
		return nil, fmt.Errorf("ask Slurm for %d nodes, and wait %v at most: %w", nodes, queueTimeout, err)
	}
	fields := strings.Split(a.held.Line, "\t")
	if len(fields) != 3 {
		return a, fmt.Errorf("salloc's command answered %q, expected job, nodes and CPUs", a.held.Line)
	}
	a.id = fields[0]
	return a, a.describe(ctx, fields[1], fields[2])
}

// release gives an allocation of our own back; one that we were in stays.
func (a *allocation) release() error {
	if a.held == nil {
		return nil
	}
	err := a.held.Release()
	if a.held.Unclean() == nil || a.id == "" {
		return err
	}
	_, err = command(context.Background(), "scancel", a.id)
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
func (a *allocation) host(ctx context.Context, srun, node string, known rig.Described) (rig.Host, error) {
	cpus := a.cpus[slices.Index(a.nodes, node)]
	h := rig.Host{Name: node, Prefix: prefix(srun, a.id, node, cpus), Address: known.Address, CPUs: known.CPUs()}
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
