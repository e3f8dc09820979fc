package mesh

import (
	"math"

	"netdyno/internal/read/stat"
)

// Rule says when an effect counts.
type Rule struct {
	Worse  float64 // +1 when more of the metric is worse, −1 when less is
	Margin float64 // relative difference below which hosts count as equal
	Hosts  float64 // probability with which any host is named when all are equal; 0: none is
	Pairs  float64 // probability with which any pair is named when all are equal; 0: none is
}

// Effect is a host, or a pair, divided by the others. The interval is simultaneous:
// all of a grid hold together, at the level of its Rule.
type Effect struct {
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Off      bool    `json:"off,omitempty"`      // worse than the others, by more than noise and margin
	Partners int     `json:"partners,omitempty"` // of a host: with how many at least half of it is seen
	Of       int     `json:"of,omitempty"`       // and with how many it was measured
}

// Known tells whether there is a ratio.
func (e Effect) Known() bool { return e.Ratio > 0 }

// Effects are a grid taken apart.
type Effects struct {
	Middle   float64           // of the pairs, in the metric's unit
	From, To []Effect          // by host
	Pairs    map[[2]int]Effect // what is left of a pair that was measured when its hosts are taken out, by sender and receiver
	Table    [][]float64       // medians over blocks of the centred logarithms, NaN for none
	Noise    float64           // of one trial: standard deviation of the logarithm
}

// spreadOfMedian is the standard deviation of a median of many normal values, times
// the root of their number.
const spreadOfMedian = 1.2533

// Judge takes a grid apart and says which hosts and pairs are worse than the others.
// A host, or a pair, counts when it is off in more than half of its blocks by more
// than chance allows any of all hosts, or pairs, to be: noise does not repeat itself.
func Judge(g *Grid, r Rule) Effects {
	c := g.centred()
	table := c.medians()
	f, n := polish(table), noiseOf(c)
	between := n.between(f, c)
	e := Effects{
		Middle: math.Exp(f.middle), From: make([]Effect, g.Hosts), To: make([]Effect, g.Hosts), Pairs: make(map[[2]int]Effect, g.Hosts),
		Table: table, Noise: n.sd,
	}
	hosts, pairs := counts(table)
	ofHosts, ofPairs := r.host(hosts, between), r.pair(pairs, between)
	for i := range g.Hosts {
		e.From[i] = judgeHost(c, f, n, line{i, true}, ofHosts)
		e.To[i] = judgeHost(c, f, n, line{i, false}, ofHosts)
		for j := range g.Hosts {
			if pair := [2]int{i, j}; !math.IsNaN(table[i][j]) {
				e.Pairs[pair] = judgePair(c, f, n, pair, ofPairs)
			}
		}
	}
	return e
}

// bar is what an effect must exceed.
type bar struct {
	Rule
	p       float64         // of one test
	between float64         // standard deviation of pairs that is no noise
	tails   map[int]float64 // of one block, by the number of blocks
}

// tail is tailOf of one test, computed once.
func (b bar) tail(blocks int) float64 {
	q, known := b.tails[blocks]
	if !known {
		q = tailOf(b.p, blocks)
		b.tails[blocks] = q
	}
	return q
}

func (r Rule) host(hosts int, between float64) bar {
	return bar{r, r.Hosts / float64(max(1, 2*hosts)), between, map[int]float64{}}
}

func (r Rule) pair(pairs int, between float64) bar {
	return bar{r, r.Pairs / float64(max(1, pairs)), between, map[int]float64{}}
}

// counts returns how many hosts and pairs a table has.
func counts(table [][]float64) (hosts, pairs int) {
	for i, row := range table {
		own := len(present(row))
		pairs += own
		if own+len(present(column(table, i))) > 0 {
			hosts++
		}
	}
	return hosts, pairs
}

// between returns how far pairs differ from each other in all blocks alike, hosts
// taken out: other ways through a fabric. 0 where noise explains what is left.
func (n noise) between(f fit, c *Grid) float64 {
	var rest []float64
	for _, row := range f.rest {
		for _, x := range present(row) {
			rest = append(rest, math.Abs(x))
		}
	}
	if len(rest) == 0 {
		return 0
	}
	spread := toSD * stat.Median(rest) * float64(c.Hosts) / float64(max(1, c.Hosts-1)) // the fit took a part of it
	own := n.sd * ofMedian(c.Blocks)
	return math.Sqrt(max(0, spread*spread-own*own))
}

// ofMedian is the standard deviation of the median of some blocks ÷ the standard deviation
// of one block: 1 for one block, 0.56 for five.
func ofMedian(blocks int) float64 {
	switch blocks {
	case 1:
		return 1
	case 2:
		return math.Sqrt2 / 2
	}
	return spreadOfMedian / math.Sqrt(float64(blocks))
}

// line is a host in one of its roles: the pairs that it is the sender, or the
// receiver, of.
type line struct {
	host  int
	sends bool
}

func (l line) pair(partner int) (from, to int) {
	if l.sends {
		return l.host, partner
	}
	return partner, l.host
}

// judgeHost judges what a host adds to its pairs in one role.
func judgeHost(c *Grid, f fit, n noise, l line, b bar) Effect {
	others := f.to
	if !l.sends {
		others = f.from
	}
	var blocks []float64
	fewest := c.Hosts
	for block := range c.Blocks {
		var values []float64
		for partner := range c.Hosts {
			from, to := l.pair(partner)
			if x := c.At(from, to, block); !math.IsNaN(x) {
				values = append(values, x-f.middle-others[partner])
			}
		}
		if len(values) > 0 {
			blocks = append(blocks, stat.Median(values))
			fewest = min(fewest, len(values))
		}
	}
	if len(blocks) == 0 {
		return Effect{}
	}
	bound := math.Inf(1)
	if len(blocks) > 1 && b.p > 0 {
		noise := max(n.sd, n.ofHost[l.host])
		bound = spreadOfMedian / math.Sqrt(float64(fewest)) * (stat.NormalBeyond(b.tail(len(blocks)))*noise + stat.NormalBeyond(b.p)*b.between)
	}
	e := b.effect(blocks, bound)
	for partner := range c.Hosts {
		from, to := l.pair(partner)
		values := c.blocksOf(from, to)
		if len(values) == 0 {
			continue
		}
		e.Of++
		own := stat.Median(values) - f.middle - others[partner]
		if own*math.Log(e.Ratio) > 0 && math.Abs(own) >= math.Abs(math.Log(e.Ratio))/2 {
			e.Partners++
		}
	}
	return e
}

// judgePair judges what is left of a pair when its two hosts are taken out.
func judgePair(c *Grid, f fit, n noise, pair [2]int, b bar) Effect {
	from, to := pair[0], pair[1]
	blocks := c.blocksOf(from, to)
	for i := range blocks {
		blocks[i] -= f.middle + f.from[from] + f.to[to]
	}
	bound := math.Inf(1)
	if len(blocks) > 1 && b.p > 0 {
		bound = n.beyond(b.tail(len(blocks)), from, to) + stat.NormalBeyond(b.p)*b.between
	}
	return b.effect(blocks, bound)
}

// effect makes an effect of its value in each block and what it must exceed.
func (b bar) effect(blocks []float64, bound float64) Effect {
	middle := stat.Median(blocks)
	e := Effect{Ratio: math.Exp(middle), Low: math.Exp(middle - bound), High: math.Exp(middle + bound)}
	sure := settled(blocks) * b.Worse
	e.Off = sure > bound && sure > math.Log1p(b.Margin)
	if math.IsInf(bound, 0) {
		e.Low, e.High = 0, 0
	}
	return e
}
