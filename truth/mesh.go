package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// harmed is a rig of namespaces of which one host has a long firewall, which every
// packet that it sends has to pass, and one host's cable sends at a fraction of the
// others' rate.
type harmed struct {
	*namespaces.Rig
	slowHost, slowCable string // by name; "" for none
	rate                string // of that cable, as tc(8) has it
}

// firewallRules make a packet cost some tenths of a millisecond more.
const firewallRules = 10_000

// burden gives the slow host its firewall: rules that no packet matches.
func (h harmed) burden() error {
	for _, host := range h.Rig.Hosts() {
		if host.Name != h.slowHost {
			continue
		}
		path, found := strings.CutPrefix(host.Prefix[1], "--net=")
		if !found {
			return fmt.Errorf("the command that reaches %s is %q; expected nsenter with --net=", host.Name, host.Prefix)
		}
		namespace, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = namespace.Close() }() // nothing was written
		return addFirewall(int(namespace.Fd()))
	}
	return nil
}

func addFirewall(namespace int) error {
	firewall, err := nftables.New(nftables.WithNetNSFd(namespace))
	if err != nil {
		return err
	}
	table := firewall.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "slow"})
	chain := firewall.AddChain(&nftables.Chain{
		Name: "out", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter,
	})
	for i := range firewallRules {
		firewall.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4}, // where it goes
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{192, 0, 2, byte(i)}},              // to TEST-NET-1
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
		if i%100 == 0 { // a batch has to fit a socket's buffer
			if err := firewall.Flush(); err != nil {
				return fmt.Errorf("add a firewall: %w", err)
			}
		}
	}
	return firewall.Flush()
}

// Shape implements rig.Shaper.
func (h harmed) Shape(ctx context.Context, link record.Link) error {
	if err := h.Rig.Shape(ctx, link); err != nil || h.slowCable == "" {
		return err
	}
	for _, host := range h.Rig.Hosts() {
		if host.Name == h.slowCable {
			_, err := host.Ask(ctx, nil, "tc", "qdisc", "change", "dev", device, "root", "handle", "1:", "tbf", "rate", h.rate, "burst", "128k", "latency", "20ms")
			return err
		}
	}
	return nil
}

// The mesh that is measured: as many hosts as two CPUs can keep busy at this rate in
// disjoint pairs, with a cable of 40 % of it.
const (
	meshLink = "link.rate=50Mbit"
	slowRate = "20mbit"
	device   = "nd0" // of a host of rig netns (docs/rigs.md)
)

// meshHosts is how many hosts the meshes have; NETDYNO_MESH_HOSTS is another number.
func meshHosts() int {
	if n, err := strconv.Atoi(os.Getenv("NETDYNO_MESH_HOSTS")); err == nil {
		return n
	}
	return 32
}

// meshed asks whether a mesh names the host that was slowed and the cable that was,
// and nobody else, and nobody among equals.
func meshed(ctx context.Context, p *pipeline) ([]answer, error) {
	n := meshHosts()
	slowHost, slowCable := fmt.Sprintf("node%d", n/4+1), fmt.Sprintf("node%d", n/2+2)
	var answers []answer
	for _, c := range []struct{ what, host, cable, want string }{
		{fmt.Sprintf("a slowed host and a slowed cable among %d", n), slowHost, slowCable, "host " + slowHost + ", cable " + slowCable},
		{fmt.Sprintf("%d equal hosts", n), "", "", ""},
	} {
		began := time.Now()
		found, err := p.mesh(ctx, n, harmed{slowHost: c.host, slowCable: c.cable, rate: slowRate})
		if err != nil {
			return answers, err
		}
		got := outliersOf(found)
		fmt.Fprintf(os.Stderr, "mesh: %s in %s: %s\n", c.what, time.Since(began).Round(time.Second), found.Answer.Sentence)
		answers = append(answers, answer{c.what + " named", cmp.Or(got, "nobody"), cmp.Or(c.want, "nobody"), got == c.want})
	}
	return answers, nil
}

// outliersOf lists what a mesh names.
func outliersOf(f finding.Findings) string {
	if f.Mesh == nil {
		return "no mesh"
	}
	var all []string
	for _, o := range f.Mesh.Outliers {
		all = append(all, string(o.Kind)+" "+strings.Join(o.Hosts, " → "))
	}
	return strings.Join(all, ", ")
}

// mesh runs one mesh of n namespaces.
func (p *pipeline) mesh(ctx context.Context, n int, on harmed) (f finding.Findings, err error) {
	if on.Rig, err = namespaces.Build(namespaces.Options{Hosts: n}); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	if err := on.burden(); err != nil {
		return f, err
	}
	s, err := source.ParseArgs([]string{"mesh", meshLink, "placement=free"}, os.ReadFile)
	if err != nil {
		return f, err
	}
	var names []string
	for _, h := range on.Hosts() {
		names = append(names, h.Name)
	}
	if s, err = s.OnHosts(names); err != nil {
		return f, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return f, err
	}
	header := record.Header{Schema: record.Schema, CreatedAt: time.Now().UTC(), Study: study.Summary(s), Facts: p.facts}
	records, err := session.Conduct(ctx, p.on(on).bench, trials)
	if err != nil {
		return f, err
	}
	if err := p.keepMesh(s, header, trials, records); err != nil {
		return f, err
	}
	return finding.Find(header, trials, records)
}

// keepMesh leaves a run's directory for netdyno report, where -record names one.
func (p *pipeline) keepMesh(s *study.Study, header record.Header, trials []record.Trial, records []record.Record) error {
	if p.record == "" {
		return nil
	}
	text, err := source.YAML(s)
	if err != nil {
		return err
	}
	dir := session.Directory(filepath.Join(p.record, "mesh-"+time.Now().Format("20060102-150405")))
	file, err := dir.Create(text, header, trials)
	if err != nil {
		return err
	}
	for _, r := range records {
		err = errors.Join(err, file.Append(r))
	}
	return errors.Join(err, file.Close())
}
