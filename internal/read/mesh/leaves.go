package mesh

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// leaves finds groups of hosts that are as good as any among themselves and worse towards
// the other hosts, and returns the groups, and the single hosts that are in no group. The
// groups are those that the user named, else those that the pairs show.
func (r *reading) leaves(m *Mesh, single []Outlier) (leaves, rest []Outlier) {
	rest = single
	e, known := r.effects[Goodput]
	if !known {
		return nil, rest
	}
	groups := r.groups(e, m.Margin)
	if len(groups) < 2 {
		return nil, rest
	}
	slices.SortStableFunc(groups, func(a, b []int) int { return len(b) - len(a) })
	for _, group := range groups[1:] { // against the largest
		o, worse := r.leaf(group, m)
		if !worse {
			continue
		}
		leaves = append(leaves, o)
		rest = slices.DeleteFunc(rest, func(s Outlier) bool { return s.Kind == OfCable && slices.Contains(o.Hosts, s.Hosts[0]) })
	}
	return leaves, rest
}

// smallestLeaf is how many hosts make a group.
const smallestLeaf = 2

// groups returns the hosts by leaf: as their rig says, or the parts between which no
// pair is as fast as within them.
func (r *reading) groups(e Effects, margin float64) [][]int {
	byLeaf := map[string][]int{}
	var order []string
	for i, h := range r.hosts {
		if h.Leaf == "" {
			continue
		}
		if byLeaf[h.Leaf] == nil {
			order = append(order, h.Leaf)
		}
		byLeaf[h.Leaf] = append(byLeaf[h.Leaf], i)
	}
	var groups [][]int
	for _, leaf := range order {
		groups = append(groups, byLeaf[leaf])
	}
	if groups == nil {
		groups = r.connected(e, margin)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < smallestLeaf })
}

// connected returns the parts of the hosts that are connected by pairs as fast as the
// upper half of all pairs within the margin and the noise.
func (r *reading) connected(e Effects, margin float64) [][]int {
	var all []float64
	for _, row := range e.Table {
		all = append(all, present(row)...)
	}
	if len(all) == 0 {
		return nil
	}
	// Of two equal groups a little less than half of the pairs lie within one.
	const within = 0.75
	bar := stat.Quantile(all, within) - max(math.Log1p(margin), 4*e.Noise)
	seen := make([]bool, len(r.names))
	var groups [][]int
	for first := range r.names {
		if seen[first] {
			continue
		}
		group := []int{first}
		seen[first] = true
		for at := 0; at < len(group); at++ {
			i := group[at]
			for j := range r.names {
				if !seen[j] && (e.Table[i][j] >= bar || e.Table[j][i] >= bar) {
					seen[j] = true
					group = append(group, j)
				}
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// leaf judges a group against the rest: its pairs with the rest by its pairs within.
func (r *reading) leaf(group []int, m *Mesh) (Outlier, bool) {
	g := r.grids[Goodput].centred()
	in := make([]bool, len(r.names))
	for _, i := range group {
		in[i] = true
	}
	var blocks []float64
	fewest := len(group) * (len(group) - 1)
	for b := range g.Blocks {
		var within, across []float64
		for i := range r.names {
			for j := range r.names {
				x := g.At(i, j, b)
				switch a, c := in[i], in[j]; {
				case math.IsNaN(x) || !a && !c:
				case a && c:
					within = append(within, x)
				default:
					across = append(across, x)
				}
			}
		}
		if len(within) > 0 && len(across) > 0 {
			blocks = append(blocks, stat.Median(across)-stat.Median(within))
			fewest = min(fewest, len(within))
		}
	}
	if len(blocks) < 2 {
		return Outlier{}, false
	}
	inside := float64(fewest) // of a mesh that has drawn its ways, fewer than there are
	noise := noiseOf(g).sd
	rule := Rule{Worse: -1, Margin: m.Margin}
	b := bar{Rule: rule, p: m.Level / parts / float64(len(r.names)), tails: map[int]float64{}}
	e := b.effect(blocks, spreadOfMedian*noise*math.Sqrt(2/inside)*stat.NormalBeyond(b.tail(len(blocks))))
	o := Outlier{Kind: OfLeaf, Evidence: []Evidence{{Goodput, Between, e}}}
	for _, i := range group {
		o.Hosts = append(o.Hosts, r.names[i])
	}
	return o, e.Off
}
