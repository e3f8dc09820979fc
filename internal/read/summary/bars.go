package summary

import (
	"math"
	"slices"
)

// Unbounded is the bound of the last row of a histogram, in µs.
const Unbounded = math.MaxFloat64

// series are the steps of a histogram's bounds in each decade, the finest first; the
// times were counted by the first.
var series = [][]float64{{1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}}

// tail is the share of times in every load that needs no bar of its own at an end.
const tail = 0.005

// Bounds are the upper bounds in µs, rising, of at most so many rows of a histogram of
// all loads, in the finest steps that need no more; nil where none do.
func (s *Summary) Bounds(rows int) []float64 {
	for _, steps := range series {
		if bounds := s.boundsBy(steps); len(bounds) > 1 && len(bounds) <= rows {
			return bounds
		}
	}
	return nil
}

// Shares are the load's times by rows of these bounds, as shares of all of them.
func (l Load) Shares(bounds []float64) []float64 {
	shares, before := make([]float64, len(bounds)), 0.0
	for i, bound := range bounds {
		share := l.upTo(bound)
		shares[i], before = share-before, share
	}
	return shares
}

// largest is above every bound of a histogram's, in µs.
const largest = 1e9

// boundsBy are the upper bounds of the rows in µs; the last is Unbounded where times
// lie beyond, or requests never ended.
func (s *Summary) boundsBy(series []float64) []float64 {
	var bounds []float64
	for decade := 1.0; decade < largest; decade *= 10 {
		for _, step := range series {
			bound := step * decade
			below, beyond := 0.0, 0.0 // shares of a load's times: up to the bound, and of those that end, beyond
			for _, l := range s.Loads {
				below, beyond = max(below, l.upTo(bound)), max(beyond, l.upTo(largest)-l.upTo(bound))
			}
			if below < tail {
				continue
			}
			if bounds = append(bounds, bound); beyond < tail {
				if slices.ContainsFunc(s.Loads, func(l Load) bool { return len(l.Histogram) > 0 && l.upTo(bound) < 1 }) {
					bounds = append(bounds, Unbounded)
				}
				return bounds
			}
		}
	}
	return append(bounds, Unbounded)
}

// upTo is the share of a load's times up to a bound in µs.
func (l Load) upTo(bound float64) float64 {
	all, within := int64(0), int64(0)
	for _, b := range l.Histogram {
		all += b.Count
		if b.UpToUs > 0 && b.UpToUs <= bound*1.0000001 || bound == Unbounded { // a bound is a product
			within += b.Count
		}
	}
	return float64(within) / float64(max(all, 1))
}
