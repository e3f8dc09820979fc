package answer

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// claimOn chooses what to say on a metric. Where an arm is ahead already on an
// earlier metric and is better here too, that arm is said to be, so that one
// answer speaks of one arm as long as it can.
func claimOn(run compare.Run, metric, ahead string) Claim {
	return claimOf(Claim{Metric: metric, Base: baseOf(run, metric)}, effectsOn(run, metric), ahead)
}

// claimsOnPair chooses what to say of two arms that a study compares besides, on
// each metric on which they were judged.
func claimsOnPair(run compare.Run, metrics []string, pair record.Pair) []Claim {
	var claims []Claim
	for _, metric := range metrics[:min(metricsSaid, len(metrics))] {
		effects := effectsWhere(run, func(c compare.Comparison) bool {
			return c.Metric == metric && c.Arm == pair.Arm && c.Base == pair.Base
		})
		if len(effects) > 0 {
			claims = append(claims, claimOf(Claim{Metric: metric, Base: pair.Base, Besides: true}, effects, pair.Arm))
		}
	}
	return claims
}

// claimOf completes a claim by the effects that it is about.
func claimOf(c Claim, effects []Effect, ahead string) Claim {
	by := byVerdict(effects)
	switch {
	case len(by[compare.Better]) > 0:
		c.Kind, c.Arm = Ahead, winner(effects, ahead)
		for _, e := range effects {
			switch {
			case e.Arm != c.Arm:
			case e.Verdict == compare.Better:
				c.Effects = append(c.Effects, e)
			default:
				c.Others = append(c.Others, e)
			}
		}
	case len(by[compare.Worse]) > 0:
		c.Kind, c.Effects = Behind, by[compare.Worse]
		c.Others = slices.DeleteFunc(slices.Clone(effects), func(e Effect) bool { return e.Verdict == compare.Worse })
	case len(by[compare.CannotTell]) > 0:
		c.Kind, c.Effects = Open, by[compare.CannotTell]
		c.Others = slices.DeleteFunc(slices.Clone(effects), func(e Effect) bool { return e.Verdict == compare.CannotTell })
	case len(by[compare.Equivalent]) > 0:
		c.Kind, c.Effects, c.Others = Equal, by[compare.Equivalent], slices.Concat(by[compare.Invalid], by[compare.Unsupported])
	default:
		c.Kind, c.Effects = None, effects
	}
	return c
}

func byVerdict(effects []Effect) map[compare.Verdict][]Effect {
	by := map[compare.Verdict][]Effect{}
	for _, e := range effects {
		by[e.Verdict] = append(by[e.Verdict], e)
	}
	return by
}

// winner is the arm that is better in most cells, less those in which it is
// worse; of several the one that an earlier metric has, then the one that
// differs most. Some effect is better.
func winner(effects []Effect, ahead string) string {
	type score struct {
		arm   string
		cells int
		named int
		size  float64 // sum of logarithms where it is better
	}
	var scores []score
	for _, e := range effects {
		i := slices.IndexFunc(scores, func(s score) bool { return s.arm == e.Arm })
		if i < 0 {
			i, scores = len(scores), append(scores, score{arm: e.Arm})
		}
		switch e.Verdict {
		case compare.Better:
			scores[i].cells++
			if cells.Usable(e.Ratio) {
				scores[i].size += math.Abs(math.Log(e.Ratio))
			}
			if e.Arm == ahead {
				scores[i].named = 1
			}
		case compare.Worse:
			scores[i].cells--
		default:
		}
	}
	scores = slices.DeleteFunc(scores, func(s score) bool { return s.size == 0 })
	return slices.MaxFunc(scores, func(a, b score) int {
		return cmp.Or(cmp.Compare(a.cells, b.cells), cmp.Compare(a.named, b.named), cmp.Compare(a.size, b.size))
	}).arm
}
