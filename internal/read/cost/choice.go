package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netdyno/internal/contract"
)

const (
	perMicro  = 1e-6
	leastHost = 1 // connections of a host
	bothEnds  = 2 // models of CPUs of a choice that is whole
)

const noFigure = "its models give no positive figure at this load"

// choice forecasts one transport, or the one end that has a model; or says why no forecast
// can be made.
func (a arm) choice(n Load) (Choice, string) {
	models := a.models()
	if len(models) == 0 {
		return Choice{}, a.without()
	}
	for _, m := range models {
		for _, r := range m.Ranges {
			if _, known := a.levels(n, 1)[r.Factor]; !known {
				return Choice{}, fmt.Sprintf("its model has the factor %s, of which a plan says nothing", r.Factor)
			}
		}
	}
	c := Choice{Arm: a.name, At: a.at, With: models[0].With, On: models[0].On, Connections: n.Connections}
	if why := a.connect(n, &c); why != "" {
		return c, why
	}
	cpu, ok := a.cpu(n, c.Connections/float64(n.Servers), c.Connections/float64(n.Clients))
	if !ok {
		return c, noFigure
	}
	if len(models) == bothEnds {
		c.cores = cpu.times(n.Rate * perMicro)
		cores := c.cores.figure()
		c.Cores = &cores
	}
	c.Server, c.Client = a.end(a.server, n, c.Connections, n.Servers), a.end(a.client, n, c.Connections, n.Clients)
	c.Limits, c.Beyond, c.Rough = limits(n, c), a.beyond(n, c), a.rough()
	return c, ""
}

// rough lists the models that are.
func (a arm) rough() []Rough {
	var all []Rough
	for _, m := range []*Model{a.server.cpu, a.client.cpu, a.server.memory, a.client.memory} {
		if m != nil && m.Rough {
			all = append(all, Rough{m.metric, m.P90})
		}
	}
	return all
}

// without says why there is no model of either end.
func (a arm) without() string {
	if a.server.why != "" && a.client.why != "" {
		return a.server.why + "; and " + a.client.why
	}
	return cmp.Or(a.server.why, a.client.why, "its run has no model of the CPU of either end")
}

// connect finds how many connections carry the rate, by Little's law: with one
// exchange in flight on each, an exchange takes at least the CPU time of both ends,
// its bytes' time on the link, and the round trip. Where one end alone is known, it
// takes at least that one's.
//
// Source: J. D. C. Little, A proof for the queuing formula L = λW, 1961.
func (a arm) connect(n Load, c *Choice) string {
	most, few := float64(max(n.Servers, n.Clients)), max(leastHost, a.lowest())
	cpu, ok := a.cpu(n, few, few)
	if !ok {
		return noFigure
	}
	takes := cpu.figure().Value*perMicro + n.RoundTrip
	if n.Link > 0 {
		takes += (n.Up + n.Down) / n.Link
	}
	c.Least = max(math.Ceil(n.Rate*takes), most)
	if c.Connections == 0 {
		c.Connections = max(c.Least, a.lowest()*most) // inside of what was measured
	}
	return ""
}

// lowest is the least number of connections that a CPU was fitted at.
func (a arm) lowest() float64 {
	low, _ := a.span("connections")
	return low
}

// end is what one end needs; without a figure where its CPU has no model.
func (a arm) end(of side, n Load, connections float64, hosts int) End {
	if of.cpu == nil {
		return End{Why: cmp.Or(of.why, "its run has no model of it")}
	}
	x := a.levels(n, connections/float64(hosts))
	e := End{CPU: expected(of.cpu, x, n.Sizes), Memory: expected(of.memory, x, n.Sizes)}
	if e.CPU != nil {
		cores := e.CPU.Times(n.Rate * perMicro / float64(hosts))
		e.Cores = &cores
	}
	return e
}

// expected is a model's figure; nil without a model, or where that gives none.
func expected(m *Model, x map[string]float64, sizes map[string]contract.Table) *Figure {
	if m == nil {
		return nil
	}
	b, ok := m.blocksAt(x, sizes)
	if !ok {
		return nil
	}
	f := b.figure()
	return &f
}

// cpu is what an exchange costs the ends that have a model, in each block, by the
// connections of a server and of a client; false where that is not positive.
func (a arm) cpu(n Load, server, client float64) (blocks, bool) {
	var all []blocks
	for _, end := range []struct {
		cpu         *Model
		connections float64
	}{{a.server.cpu, server}, {a.client.cpu, client}} {
		if end.cpu == nil {
			continue
		}
		b, ok := end.cpu.blocksAt(a.levels(n, end.connections), n.Sizes)
		if !ok {
			return b, false
		}
		b.run = a.run
		all = append(all, b)
	}
	if len(all) == bothEnds {
		return all[0].plus(all[1]), true
	}
	return all[0], true
}

// limits are the resources of the load, the fullest first.
func limits(n Load, c Choice) []Limit {
	var all []Limit
	add := func(name string, need *Figure, have float64) {
		if need != nil && have > 0 {
			all = append(all, Limit{name, need.Value / have, need.Low / have, need.High / have})
		}
	}
	busiest := float64(min(n.Servers, n.Clients))
	add("link", &Figure{Value: n.Rate * max(n.Up, n.Down) / busiest}, n.Link*Payload)
	add("server CPU", c.Server.Cores, n.Cores)
	add("client CPU", c.Client.Cores, n.Cores)
	add("server memory", c.Server.Memory, n.Memory)
	add("client memory", c.Client.Memory, n.Memory)
	add("connections", &Figure{Value: c.Least}, n.Connections)
	slices.SortStableFunc(all, func(a, b Limit) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// beyond names what the load asks of a host that no fitted cell of the run reached.
func (a arm) beyond(n Load, c Choice) []string {
	var all []string
	x := a.levels(n, c.Connections/float64(min(n.Servers, n.Clients)))
	measured := a.models()[0] // both ends of the same cells
	for _, r := range measured.Ranges {
		v := x[r.Factor]
		if table, distributed := n.Sizes[r.Factor]; distributed {
			v = float64(table.Most())
		}
		if v < r.Low || v > r.High {
			all = append(all, fmt.Sprintf("%s of %s, measured from %s to %s", r.Factor, Amount(r.Factor, v), Amount(r.Factor, r.Low), Amount(r.Factor, r.High)))
		}
	}
	if rate := n.Rate / float64(min(n.Servers, n.Clients)); rate > measured.Rate && measured.Rate > 0 {
		all = append(all, fmt.Sprintf("%s exchanges/s on a host, measured up to %s", Amount("", rate), Amount("", measured.Rate)))
	}
	return all
}
