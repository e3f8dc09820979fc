package finding

import (
	"fmt"
	"slices"

	"netdyno/internal/record"
)

// maxPairs bounds rounds × segments: what it takes to match them grows so.
const maxPairs = 4_000_000

// run is consecutive rounds that one segment holds: from, up to and without to.
type run struct{ from, to int }

// match gives each segment its trials: the assignment in order that explains
// the most rounds. Where two assignments explain as many and differ, the part
// in which they differ is not matched.
func (j *joint) match() {
	counted := slices.DeleteFunc(slices.Clone(j.rounds), func(r round) bool { return !r.known })
	if len(counted)*len(j.segments) > maxPairs {
		j.refused = fmt.Sprintf("%d trials and %d segments are too many to match", len(counted), len(j.segments))
		return
	}
	early := j.assign(counted, false)
	late := j.assign(counted, true)
	matched := make([]bool, len(counted))
	for s := range j.segments {
		found := early[s]
		if found.from == found.to || found != late[s] {
			continue
		}
		for i := found.from; i < found.to; i++ {
			matched[i] = true
		}
		j.give(s, counted[found.from:found.to])
	}
	for i, r := range counted {
		if !matched[i] {
			j.lost = append(j.lost, r)
		}
	}
}

// give enters the rounds that drove a segment.
func (j *joint) give(s int, rounds []round) {
	first := rounds[0]
	j.segments[s] = recounted(j.segments[s], first)
	d := describeSegment(&j.segments[s])
	d.Trials, d.Cell, d.Arm = trialsIn(rounds), first.cell, first.arm
	for _, r := range rounds {
		if r.cell != first.cell || r.arm != first.arm || r.arm == "" {
			d.Cell, d.Arm = "", ""
		}
	}
	if d.Arm == "" {
		j.mixed++
	}
	j.served.Segments[s], j.blocks[s] = d, first.block
}

// assign returns by segment the rounds that it holds, none where from is to.
// It prefers the earliest assignment among the best, or the latest.
//
// The best score of the rounds from i and the segments from s on is that of the
// longest common subsequence (R. Wagner and M. Fischer, The String-to-String
// Correction Problem, 1974), where one segment may equal several rounds.
func (j *joint) assign(rounds []round, latest bool) []run {
	n, m := len(rounds), len(j.segments)
	next := func(i int) round { return rounds[i] }
	segment := func(s int) int { return s }
	if latest { // the same of both lists turned round
		next = func(i int) round { return rounds[n-1-i] }
		segment = func(s int) int { return m - 1 - s }
	}
	best := make([]int32, (n+1)*(m+1))
	at := func(i, s int) *int32 { return &best[i*(m+1)+s] }
	held := func(i, s, most int) (to int) { return j.held(next, i, most, segment(s)) }
	for i := n - 1; i >= 0; i-- {
		for s := m - 1; s >= 0; s-- {
			score := max(*at(i+1, s), *at(i, s+1))
			if to := held(i, s, n); to > i {
				score = max(score, int32(to-i)+*at(to, s+1))
			}
			*at(i, s) = score
		}
	}
	found := make([]run, m)
	for i, s := 0, 0; i < n && s < m; {
		to := held(i, s, n)
		switch {
		case to > i && *at(i, s) == int32(to-i)+*at(to, s+1):
			found[segment(s)] = run{i, to}
			if latest {
				found[segment(s)] = run{n - to, n - i}
			}
			i, s = to, s+1
		case *at(i, s) == *at(i, s+1):
			s++
		default:
			i++
		}
	}
	return found
}

// held returns the end of the rounds from i on that together make what segment
// s counted; i when none do.
func (j *joint) held(rounds func(int) round, i, n, s int) (to int) {
	least, most := int64(0), int64(0)
	for to = i; to < n; to++ {
		r := rounds(to)
		least, most = least+r.least, most+r.most
		recounted := recounted(j.segments[s], r)
		counted, ok := exchangesIn(&recounted)
		if !ok || least > counted {
			return i
		}
		if counted <= most {
			return to + 1
		}
	}
	return i
}

// recounted returns a segment as its server would have counted with the sizes
// that the trial declares. A server that sees no boundaries divides its bytes by
// the size that it was told; where the client was told another, the bytes stand
// and that quotient does not.
func recounted(r record.Record, of round) record.Record {
	w := r.Workers[0]
	up, down, ok := w.Sizes()
	if !ok || up == of.upB && down == of.downB || w.Open == nil || w.Close == nil {
		return r
	}
	again := func(e record.Edge) record.Edge {
		c := &e.Reading.Counts
		switch {
		case of.upB > 0:
			c.Exchanges = c.ReceivedBytes / of.upB
		case of.downB > 0:
			c.Exchanges = c.SentBytes / of.downB
		}
		return e
	}
	from, to, segment := again(*w.Open), again(*w.Close), *r.Segment
	w.Open, w.Close = &from, &to
	segment.First, segment.Last = again(segment.First), again(segment.Last)
	r.Workers, r.Segment = []record.Worker{w}, &segment
	return r
}

// describeArms sums up the matched segments by cell and arm, in the order of
// the first run.
func (j *joint) describeArms(drives []Drive) {
	valid := map[string]bool{}
	for _, r := range j.rounds {
		for _, id := range r.ids {
			known, seen := valid[id]
			valid[id] = r.valid && (known || !seen)
		}
	}
	for _, cell := range drives[0].Findings.Cells {
		for _, arm := range cell.Arms {
			if a, ok := j.describeArm(cell.Name, arm.Name, valid); ok {
				j.served.Arms = append(j.served.Arms, a)
			}
		}
	}
}

func (j *joint) describeArm(cell, arm string, valid map[string]bool) (ServerArm, bool) {
	a := ServerArm{Cell: cell, Arm: arm}
	told := map[string]*pool{}
	for i, s := range j.served.Segments {
		if len(s.Trials) == 0 || s.Cell != cell || s.Arm != arm || slices.ContainsFunc(s.Trials, func(id string) bool { return !valid[id] }) {
			continue
		}
		a.Segments++
		a.Exchanges += s.Exchanges
		for name, x := range s.Values {
			if told[name] == nil {
				told[name] = &pool{}
			}
			told[name].add(j.blocks[i], x)
		}
	}
	for _, m := range record.SegmentMetrics() {
		if p := told[m.Name]; p != nil {
			if summary, ok := summaryOf(m, p); ok {
				a.Metrics = append(a.Metrics, summary)
			}
		}
	}
	return a, a.Segments > 0
}
