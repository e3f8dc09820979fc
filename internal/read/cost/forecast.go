package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/read/stat"
)

// Need is the load that a forecast is for, and the machines that would carry it.
type Need struct {
	Up          float64 `json:"up_bytes"`                   // of an exchange; 0 for as few as were measured
	Down        float64 `json:"down_bytes"`                 // likewise
	Rate        float64 `json:"rate_per_s"`                 // exchanges per second over all hosts
	Servers     int     `json:"servers"`                    // hosts
	Clients     int     `json:"clients"`                    // hosts
	Connections float64 `json:"connections"`                // over all hosts; 0 for as few as carry the rate and were measured
	Link        float64 `json:"link_bytes_per_s,omitempty"` // of each host, in each direction; 0 for unknown
	Cores       float64 `json:"cores,omitempty"`            // of each host; 0 for unknown
	Memory      float64 `json:"memory_bytes,omitempty"`     // of each host; 0 for unknown
	RoundTrip   float64 `json:"round_trip_s,omitempty"`     // of the network, without the hosts
}

// Payload is the share of a link's rate that carries content: 1,448 of the 1,538
// bytes that a full TCP segment takes on Ethernet with an MTU of 1,500.
const Payload = 1448.0 / 1538

// FullRate is the rate at which the fullest link of a server or client is full.
func (n Need) FullRate() float64 {
	return n.Link * Payload * float64(min(n.Servers, n.Clients)) / max(n.Up, n.Down, 1)
}

// Figure is a forecast amount with its 95 % interval: that of the blocks, widened by
// how far the models were off in the cells that they had not seen.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Times scales a figure.
func (f Figure) Times(k float64) Figure { return Figure{f.Value * k, f.Low * k, f.High * k} }

// End is what one end of a transport needs.
type End struct {
	CPU    Figure  `json:"cpu_us_per_exchange"`
	Cores  Figure  `json:"cores_per_host"`
	Memory *Figure `json:"memory_bytes_per_host,omitempty"` // of one process; nil where no model holds
}

// Limit is a resource and how much of it the load would take.
type Limit struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // above 1 for more than there is
}

// Choice is a transport under the load.
type Choice struct {
	Arm         string   `json:"arm"`
	At          string   `json:"at,omitempty"`
	Server      End      `json:"server"`
	Client      End      `json:"client"`
	Cores       Figure   `json:"cores"`             // of all hosts, both ends
	Ratio       *Figure  `json:"ratio,omitempty"`   // of these to the first choice's; nil of the first
	PerByte     Figure   `json:"per_byte_cores"`    // the part of Cores that grows with the bytes
	Connections float64  `json:"connections"`       // over all hosts
	Least       float64  `json:"least_connections"` // that carry the rate with one exchange in flight on each
	Limits      []Limit  `json:"limits"`            // the one that is reached first is first
	Beyond      []string `json:"beyond,omitempty"`  // what no fitted cell reached
	With        string   `json:"with,omitempty"`
	On          string   `json:"on,omitempty"`

	cores blocks
}

// Even is a message size from which on another choice takes fewer cores.
type Even struct {
	Below string `json:"below"` // takes fewer below the size
	Above string `json:"above"` // and this one above it
	Size  Figure `json:"size_bytes"`
}

// Forecast is what a load will need, the choice with the fewest cores first.
type Forecast struct {
	Need    Need     `json:"need"`
	Choices []Choice `json:"choices"`
	Evens   []Even   `json:"break_even,omitempty"`
	Without []string `json:"without,omitempty"` // arms that have no model of both ends' CPU, and why
}

// arm is a transport with its models; nil for one that does not hold.
type arm struct {
	run, name, at                              string
	serverCPU, clientCPU, serverRAM, clientRAM *Model
	reach                                      *Model // of the CPU of an end, also one that does not hold: what was measured
	why                                        string
}

// String names an arm with its levels.
func (a arm) String() string { return strings.TrimSpace(a.name + " " + a.at) }

// Foresee says what each modelled transport would need. Costs are by the run that they
// were measured in: within one, choices are compared block by block. Arms are those to
// be foreseen, empty for all.
func Foresee(runs map[string][]Cost, need Need, arms []string) Forecast {
	f := Forecast{Need: need}
	var found, apart []arm
	for _, a := range armsOf(runs) {
		if len(arms) > 0 && !slices.Contains(arms, a.name) {
			continue
		}
		if a.otherWay(need) {
			apart = append(apart, a)
			continue
		}
		c, why := a.choice(need)
		if why != "" {
			f.Without = append(f.Without, a.String()+": "+why)
			continue
		}
		f.Choices, found = append(f.Choices, c), append(found, a)
	}
	for _, a := range apart {
		if !slices.ContainsFunc(found, func(b arm) bool { return b.name == a.name }) {
			f.Without = append(f.Without, a.String()+": it was measured with one size in this direction")
		}
	}
	slices.SortStableFunc(f.Choices, func(a, b Choice) int { return cmp.Compare(a.Cores.Value, b.Cores.Value) })
	for i := range f.Choices {
		if i > 0 {
			ratio := f.Choices[i].cores.over(f.Choices[0].cores)
			f.Choices[i].Ratio = &ratio
		}
	}
	f.Evens = evens(found, need)
	return f
}

// armsOf gathers the models of each arm and level, in the order of the runs' names.
func armsOf(runs map[string][]Cost) []arm {
	var all []arm
	for _, run := range sorted(runs) {
		for i := range runs[run] {
			c := &runs[run][i]
			for j := range c.Models {
				m := &c.Models[j]
				at := slices.IndexFunc(all, func(a arm) bool { return a.run == run && a.name == m.Arm && a.at == m.At })
				if at < 0 {
					at, all = len(all), append(all, arm{run: run, name: m.Arm, at: m.At})
				}
				all[at].take(c.Spec.Metric, m)
			}
		}
	}
	return all
}

// take puts a model in its place; one that does not hold leaves its reason.
func (a *arm) take(metric string, m *Model) {
	place, known := map[string]**Model{
		"server.cpu_us_per_exchange": &a.serverCPU, "client.cpu_us_per_exchange": &a.clientCPU,
		"server.rss_bytes": &a.serverRAM, "client.rss_bytes": &a.clientRAM,
	}[metric]
	if known && a.reach == nil && strings.HasSuffix(metric, ".cpu_us_per_exchange") {
		a.reach = m
	}
	switch {
	case !known || *place != nil:
	case m.Reason == "":
		*place = m
	case strings.HasSuffix(metric, ".cpu_us_per_exchange"):
		a.why = fmt.Sprintf("no model of %s: %s", metric, m.Reason)
	}
}

// levels are the numbers of the models under a load: the connections are those of one
// process.
func (a arm) levels(n Need, connections float64) map[string]float64 {
	x := map[string]float64{"request": n.Up, "response": n.Down, "connections": connections}
	for _, factor := range []string{"request", "response"} {
		if low, _ := a.span(factor); x[factor] == 0 {
			x[factor] = low
		}
	}
	return x
}

// span is from where to where a CPU was fitted; 0 of a factor that the model has not.
func (a arm) span(factor string) (low, high float64) {
	if a.reach == nil {
		return 0, 0
	}
	for _, r := range a.reach.Ranges {
		if r.Factor == factor {
			return r.Low, r.High
		}
	}
	return 0, 0
}

// otherWay tells whether a model is of the other direction: it has one size where the
// load has a larger message.
func (a arm) otherWay(n Need) bool {
	for _, d := range []struct {
		factor string
		size   float64
	}{{"request", n.Up}, {"response", n.Down}} {
		if low, high := a.span(d.factor); low == high && d.size > high {
			return true
		}
	}
	return false
}

const (
	perMicro  = 1e-6
	leastHost = 1 // connections of a host
)

// choice foresees one transport; or why it cannot.
func (a arm) choice(n Need) (Choice, string) {
	if a.serverCPU == nil || a.clientCPU == nil {
		return Choice{}, cmp.Or(a.why, "its run has no model of the CPU of both ends")
	}
	for _, m := range []*Model{a.serverCPU, a.clientCPU} {
		for _, r := range m.Ranges {
			if _, known := a.levels(n, 1)[r.Factor]; !known {
				return Choice{}, fmt.Sprintf("its model has the factor %s, of which a plan says nothing", r.Factor)
			}
		}
	}
	c := Choice{Arm: a.name, At: a.at, With: a.serverCPU.With, On: a.serverCPU.On, Connections: n.Connections}
	if why := a.connect(n, &c); why != "" {
		return c, why
	}
	server, why := a.cpu(a.serverCPU, n, c.Connections/float64(n.Servers))
	if why != "" {
		return c, why
	}
	client, why := a.cpu(a.clientCPU, n, c.Connections/float64(n.Clients))
	if why != "" {
		return c, why
	}
	c.cores = server.plus(client).times(n.Rate * perMicro)
	c.Cores = c.cores.figure()
	c.Server = End{CPU: server.figure(), Cores: server.figure().Times(n.Rate * perMicro / float64(n.Servers))}
	c.Client = End{CPU: client.figure(), Cores: client.figure().Times(n.Rate * perMicro / float64(n.Clients))}
	c.Server.Memory = memory(a.serverRAM, a.levels(n, c.Connections/float64(n.Servers)))
	c.Client.Memory = memory(a.clientRAM, a.levels(n, c.Connections/float64(n.Clients)))
	c.PerByte = a.perByte(n, c)
	c.Limits, c.Beyond = limits(n, c), a.beyond(n, c)
	return c, ""
}

// connect finds how many connections carry the rate, by Little's law: with one
// exchange in flight on each, an exchange takes at least the CPU time of both ends,
// its bytes' time on the link, and the round trip.
//
// Source: J. D. C. Little, A proof for the queuing formula L = λW, 1961.
func (a arm) connect(n Need, c *Choice) string {
	x := a.levels(n, max(leastHost, a.lowest()))
	server, one := a.serverCPU.at(x)
	client, other := a.clientCPU.at(x)
	if !one || !other {
		return "its models give no positive figure at this load"
	}
	takes := server.plus(client).figure().Value*perMicro + n.RoundTrip
	if n.Link > 0 {
		takes += (n.Up + n.Down) / n.Link
	}
	c.Least = max(math.Ceil(n.Rate*takes), float64(max(n.Servers, n.Clients)))
	if c.Connections == 0 {
		c.Connections = max(c.Least, a.lowest()*float64(max(n.Servers, n.Clients))) // inside of what was measured
	}
	return ""
}

// lowest is the least number of connections that a CPU was fitted at.
func (a arm) lowest() float64 {
	low, _ := a.span("connections")
	return low
}

// cpu is what an exchange costs one end in each block.
func (a arm) cpu(m *Model, n Need, connections float64) (blocks, string) {
	b, ok := m.at(a.levels(n, connections))
	if !ok {
		return b, "its models give no positive figure at this load"
	}
	b.run = a.run
	return b, ""
}

// memory of one process; nil without a model.
func memory(m *Model, x map[string]float64) *Figure {
	if m == nil {
		return nil
	}
	b, ok := m.at(x)
	if !ok {
		return nil
	}
	f := b.figure()
	return &f
}

// perByte is the part of the cores that grows with the bytes: all that copying,
// checking and moving them could ever save.
func (a arm) perByte(n Need, c Choice) Figure {
	least := n
	least.Up, least.Down = 0, 0 // as few as were measured
	server, one := a.serverCPU.at(a.levels(least, c.Connections/float64(n.Servers)))
	client, other := a.clientCPU.at(a.levels(least, c.Connections/float64(n.Clients)))
	if !one || !other {
		return Figure{}
	}
	share := c.cores.less(server.plus(client).times(n.Rate * perMicro))
	e, ok := stat.ArithmeticMean(share)
	if !ok {
		return Figure{}
	}
	return Figure{max(0, e.Point), max(0, e.Low), max(0, e.High)}
}

// limits are the resources of the load, the fullest first.
func limits(n Need, c Choice) []Limit {
	var all []Limit
	add := func(name string, need, have float64) {
		if have > 0 {
			all = append(all, Limit{name, need / have})
		}
	}
	busiest := float64(min(n.Servers, n.Clients))
	add("link", n.Rate*max(n.Up, n.Down)/busiest, n.Link*Payload)
	add("server CPU", c.Server.Cores.Value, n.Cores)
	add("client CPU", c.Client.Cores.Value, n.Cores)
	if c.Server.Memory != nil {
		add("server memory", c.Server.Memory.Value, n.Memory)
	}
	if c.Client.Memory != nil {
		add("client memory", c.Client.Memory.Value, n.Memory)
	}
	if n.Connections > 0 {
		add("connections", c.Least, n.Connections)
	}
	slices.SortStableFunc(all, func(a, b Limit) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// beyond names what the load asks of a host that no fitted cell of the run reached.
func (a arm) beyond(n Need, c Choice) []string {
	var all []string
	x := a.levels(n, c.Connections/float64(min(n.Servers, n.Clients)))
	for _, r := range a.serverCPU.Ranges {
		if v := x[r.Factor]; v < r.Low || v > r.High {
			all = append(all, fmt.Sprintf("%s of %s, measured from %s to %s", r.Factor, Amount(r.Factor, v), Amount(r.Factor, r.Low), Amount(r.Factor, r.High)))
		}
	}
	if rate := n.Rate / float64(min(n.Servers, n.Clients)); rate > a.serverCPU.Rate && a.serverCPU.Rate > 0 {
		all = append(all, fmt.Sprintf("%s exchanges/s on a host, measured up to %s", Amount("", rate), Amount("", a.serverCPU.Rate)))
	}
	return all
}
