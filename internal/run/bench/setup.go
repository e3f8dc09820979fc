package bench

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/identity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// portsPerWay is how many connections go from one source address to one listener: the
// default ephemeral range holds 28,232 ports and others need some.
const portsPerWay = 20_000

// SourcesFor returns from how many source addresses the clients of one host make a
// trial's connections, or a part of them.
func SourcesFor(w study.Work, connections int) int {
	ways, listeners := (connections+portsPerWay-1)/portsPerWay, Listeners(w)
	sources := min(1, ways)
	for Ways(sources, listeners) < ways {
		sources++
	}
	return sources
}

// Listeners returns to how many addresses the clients of a trial connect: those of all
// servers, or the one of the first hop or of a server that runs already.
func Listeners(w study.Work) int {
	if len(w.Path.Hops) > 0 {
		return 1
	}
	return max(1, w.Servers) * max(1, w.Listeners)
}

// Ways returns how many pairs of a source address and a listener connections have that
// take both in turn: of 3 and 2 all 6, of 4 and 2 only 4.
func Ways(sources, listeners int) int {
	divisor, rest := sources, listeners
	for rest != 0 {
		divisor, rest = rest, divisor%rest
	}
	return sources * listeners / max(1, divisor)
}

// setups is what each worker of a trial is told.
type setups struct {
	server contract.Setup
	client map[string]contract.Setup // by worker name; Peers still to come
	before map[string]int            // by worker name: the connections of the clients before it
}

// sources returns the addresses that the clients of each host connect from,
// and all of them, which the server lets in.
func (t *trial) sources() (byHost map[string][]string, all []string, err error) {
	connections, hosts := map[string]int{}, []rig.Host{}
	for i, seat := range t.clientSeats {
		if connections[seat.Name] == 0 {
			hosts = append(hosts, seat.Host)
		}
		connections[seat.Name] += t.work.ClientLoad(i).Connections
	}
	byHost = map[string][]string{}
	for _, h := range hosts {
		own := []string{t.work.Source}
		if t.work.Source == "" {
			if own, err = h.SourcesFor(SourcesFor(t.work, connections[h.Name])); err != nil {
				return nil, nil, err
			}
		}
		byHost[h.Name], all = own, append(all, own...)
	}
	return byHost, all, nil
}

// terms returns the options of each end and what each needs to encrypt.
func (t *trial) terms() (options map[contract.Role]map[string]any, server, client *contract.TLS, err error) {
	if external, ok := t.bench.Rig.(rig.External); ok {
		if options, err = clientOptions(t.work, t.clientEnd); err == nil {
			client, err = trust(t.work, external)
		}
		return options, nil, client, err
	}
	if options, err = optionsByRole(t.work, t.serverEnd, t.clientEnd); err == nil {
		server, client, err = t.bench.credentials(t.work, t.addresses())
	}
	return options, server, client, err
}

// setups translates the trial's levels for each worker.
func (t *trial) setups() (setups, error) {
	fail := func(err error) (setups, error) {
		return setups{}, &failure{Failure: record.Failure{Kind: contract.SetupFailed, Text: err.Error(), State: "idle"}}
	}
	base := contract.Setup{
		Trial: t.plan.ID, Seed: t.plan.Seed, Exchange: t.work.Exchange, Load: t.work.Load, Threads: t.work.Threads,
		WindowNs: int64(t.work.Window), WarmupNs: int64(t.work.Warmup), Profile: t.plan.Probe, Timeline: t.plan.Probe || t.work.Timeline, Events: t.work.Events,
	}
	if name := t.work.Message; name != "" {
		message, known := t.bench.Messages[name]
		if !known {
			return fail(fmt.Errorf("message %q was not resolved before the run", name))
		}
		base.Exchange.Message = &message
	}
	if t.plan.Unloaded && t.work.Load.Trace != nil {
		return setups{}, &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: "recorded traffic says when each exchange is due, so that its arm has no time without load; compare response times instead", State: "idle"}}
	}
	base.Load.DrainNs = int64(t.drain())
	if trace := t.work.Load.Trace; trace != nil && !trace.Times && wireOf(t.clientEnd, t.work) == echo {
		base.Exchange = even(base.Exchange)
	}
	options, serverTLS, clientTLS, err := t.terms()
	if err != nil {
		return fail(err)
	}
	out := setups{server: base, client: map[string]contract.Setup{}, before: map[string]int{}}
	out.server.Load, out.server.Work = withoutMix(base.Load), t.work.Work
	out.server.Transport, out.server.Role, out.server.Options = t.serverEnd.Name, contract.Server, options[contract.Server]
	if err := t.enterFiles(t.serverSeat.Host, &out.server); err != nil {
		return fail(err)
	}
	out.server.TLS = serverTLS
	if len(t.servers) > 0 {
		out.server.Listen = net.JoinHostPort(t.serverSeat.Address, "0")
	}
	sources, allow, err := t.sources()
	if err != nil {
		return fail(err)
	}
	out.server.Listeners, out.server.Allow = t.work.Listeners, t.allowed(allow)
	if clientTLS != nil && t.work.Resume {
		resuming := *clientTLS
		clientTLS, resuming.Resume = &resuming, true
	}
	base.Stages = t.work.Stages || t.work.MayStages && slices.Contains(t.clientEnd.Features, contract.FeatureStages)
	before := 0
	for i, c := range t.clients {
		setup := base
		setup.Transport, setup.Role, setup.Options = t.clientEnd.Name, c.worker.Role, options[c.worker.Role]
		setup.Load = t.work.ClientLoad(i)
		setup.Load.DrainNs, setup.Load.Turns = int64(t.drain()), t.turns
		if _, said := t.plan.Levels["max_errors"]; !said && t.serverEnd.foreign() {
			setup.Load.MaxErrors = contract.ForeignErrors
		}
		setup.Seed, setup.TLS = t.plan.Seed+uint64(i), clientTLS
		if c.worker.Role == contract.Pair {
			setup.Work = t.work.Work
		}
		t.partOf(&setup, i, t.clientSeats[i].Host)
		if err := t.enterFiles(t.clientSeats[i].Host, &setup); err != nil {
			return fail(err)
		}
		if own := sources[t.clientSeats[i].Name]; len(own) > 1 || t.work.Source != "" {
			setup.Sources = own
		}
		out.client[c.worker.Name], out.before[c.worker.Name] = setup, before
		before += setup.Load.Connections
	}
	return out, nil
}

// enterFiles puts the files of a worker's host in the place of options' levels that
// stand for texts.
func (t *trial) enterFiles(host rig.Host, setup *contract.Setup) error {
	options := maps.Clone(setup.Options) // the other workers' too
	for name, value := range options {
		level, text := value.(string)
		if !text || !study.IsGiven(level) {
			continue
		}
		if t.bench.Texts == nil {
			return fmt.Errorf("option %s: %s was not read before the run", name, level)
		}
		file, err := t.bench.Texts(host, level)
		if err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
		options[name] = "@" + file
	}
	setup.Options = options
	return nil
}

// credentials returns what the two ends of an encrypted trial need, nil for a plain
// trial. A certificate is made once for the run, for the addresses at which a server and
// the hops before it listen, and the clients trust no other certificate.
func (b *Bench) credentials(w study.Work, at []string) (serverTLS, clientTLS *contract.TLS, err error) {
	if !w.TLS {
		return nil, nil, nil
	}
	b.sealing.Lock()
	defer b.sealing.Unlock()
	name := strings.Join(at, " ")
	own := b.identities[name]
	if own == nil {
		if own, err = identity.New(at...); err != nil {
			return nil, nil, fmt.Errorf("make a certificate for %s: %w", name, err)
		}
		if b.identities == nil {
			b.identities = map[string]*contract.TLS{}
		}
		b.identities[name] = own
	}
	return own, &contract.TLS{Authorities: own.Authorities}, nil
}

// recorded returns the setup as the record keeps it: without the private key, and without
// the tables, which the study's levels say in fewer words.
func recorded(setup contract.Setup) *contract.Setup {
	setup.Exchange.UpSizes, setup.Exchange.DownSizes, setup.Load.Gaps, setup.Load.Turns = nil, nil, nil, nil
	setup.Load = withoutTables(setup.Load)
	if setup.TLS != nil {
		public := *setup.TLS
		public.Key = ""
		setup.TLS = &public
	}
	return &setup
}
