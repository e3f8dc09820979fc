// Package slurm is the rig of nodes that a Slurm cluster gives us: an
// allocation of the user's in which we run already, or one of our own for as
// long as the run takes. Every worker is a job step with its stdio attached.
package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/remote"
)

// Requests are options of salloc(1) that an allocation may be asked for with.
var Requests = []string{"partition", "account", "qos", "constraint", "reservation", "time", "nodelist"}

// Rig implements rig.Rig, rig.Deployer and rig.Recoverer.
type Rig struct {
	*remote.Rig
	job     *allocation
	holders []step // that hold what was delivered
}

// stepName is the name of our job steps, not those of another netdyno that
// runs in the same job.
func stepName() string { return fmt.Sprintf("netdyno-%d", os.Getpid()) }

// join takes up the allocation that this process runs in, or asks for one and waits until it
// is granted.
func (r *Rig) join(ctx context.Context, c rig.Choice, count int) ([]rig.Host, error) {
	srun, err := exec.LookPath("srun")
	if err != nil {
		return nil, fmt.Errorf("%w (package slurm-client has it)", err)
	}
	if job := os.Getenv("SLURM_JOB_ID"); job != "" {
		if asked := requested(c); len(asked) > 0 {
			return nil, fmt.Errorf("this is already Slurm job %s; %s can only be asked for outside a job", job, strings.Join(asked, ", "))
		}
		r.job, err = own(ctx, job)
	} else {
		r.job, err = ask(ctx, c, count)
	}
	if err != nil {
		return nil, err
	}
	nodes := r.job.nodes
	if count > len(nodes) {
		return nil, fmt.Errorf("use Slurm job %s: it has %d nodes (%s), and %d are asked for", r.job.id, len(nodes), strings.Join(nodes, " "), count)
	}
	nodes = nodes[:count]
	hosts := make([]rig.Host, len(nodes))
	var group errgroup.Group
	for i, node := range nodes {
		group.Go(func() (err error) {
			known := rig.Described{}
			if at := slices.IndexFunc(c.Hosts, func(d rig.Described) bool { return d.Node == node }); at >= 0 {
				known = c.Hosts[at]
			}
			known.Interface = cmp.Or(known.Interface, c.Options["interface"])
			hosts[i], err = r.job.host(ctx, srun, node, known)
			return err
		})
	}
	return hosts, group.Wait()
}

// Deploy implements rig.Deployer.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	err := r.Rig.Deploy(ctx, files)
	if err == nil {
		r.holders, err = r.job.steps(ctx, stepName())
	}
	return err
}

// Recover implements rig.Recoverer.
func (r *Rig) Recover(ctx context.Context) error {
	gone := r.DropLost(ctx)
	r.holders = slices.DeleteFunc(r.holders, func(k step) bool { return slices.Contains(gone, k.node) })
	if err := r.sweep(ctx); err != nil {
		return err
	}
	recovered := r.Rig.Recover(ctx)
	holders, err := r.job.steps(ctx, stepName())
	if err == nil {
		r.holders = holders
	}
	return errors.Join(recovered, err)
}

// sweep ends steps of trials: srun hangs when its step's daemon has died, and
// a killed srun leaves its task behind; the controller ends both.
func (r *Rig) sweep(ctx context.Context) error {
	steps, err := r.job.steps(ctx, stepName())
	if err != nil {
		return fmt.Errorf("cancel steps of earlier trials: %w", err)
	}
	var errs []error
	for _, s := range steps {
		if slices.Contains(r.holders, s) {
			continue
		}
		if _, err := command(ctx, "scancel", "--signal=KILL", s.id); err != nil {
			errs = append(errs, fmt.Errorf("cancel steps of earlier trials: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Close implements rig.Rig; an allocation of our own is given back.
func (r *Rig) Close() error {
	var err error
	if r.Rig != nil {
		err = r.Rig.Close()
	}
	if r.job != nil && r.job.held == nil { // with an allocation of ours its steps end
		ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
		defer cancel()
		err = errors.Join(err, r.sweep(ctx))
	}
	if r.job != nil {
		err = errors.Join(err, r.job.release())
	}
	return err
}

// requested are the keys of what an allocation of our own is asked for.
func requested(c rig.Choice) []string {
	return slices.DeleteFunc(slices.Clone(Requests), func(key string) bool { return c.Options[key] == "" })
}

// prefix is what runs a command on a node: a step of one task that shares the
// allocation with the others and may use the node's every CPU and all memory.
func prefix(srun, job, node string, cpus int) []string {
	argv := []string{
		srun, "--jobid=" + job, "--nodelist=" + node, "--nodes=1", "--ntasks=1", "--job-name=" + stepName(),
		"--overlap", "--mem=0", "--mpi=none", "--cpu-bind=none", "--unbuffered", "--quiet", "--export=ALL",
	}
	if cpus > 0 {
		argv = append(argv, fmt.Sprintf("--cpus-per-task=%d", cpus))
	}
	return slices.Clip(argv)
}

// Kind is the rig of a Slurm cluster's nodes, as users choose it.
var Kind = rig.Kind{
	Name: "slurm", Form: "slurm[:NODES][?interface=NAME&partition=NAME&time=LIMIT…]",
	Options: slices.Concat([]string{"interface", "shared"}, Requests), HostKey: "node", Build: build,
}

// build reads the number of nodes and what to ask for.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	const standard = 2
	nodes, err := c.Count(standard)
	if err != nil {
		return nil, err
	}
	if nodes < 1 || nodes > rig.MaxHosts {
		return nil, c.Errorf("%d nodes; expected from 1 to %d", nodes, rig.MaxHosts)
	}
	shared, err := c.Flag("shared")
	if err != nil {
		return nil, err
	}
	r := &Rig{}
	hosts, err := r.join(ctx, c, nodes)
	r.Rig = remote.New(c.Name, hosts, shared)
	if err != nil {
		return nil, fmt.Errorf("rig %s: %w", c.Name, errors.Join(err, r.Close()))
	}
	return r, nil
}
