package contract

import (
	"errors"
	"fmt"
)

// Table is a distribution of whole numbers in pieces, from which every worker draws the
// same sequence (contract/DRAWS.md).
type Table []Segment

// Segment is one piece of a Table: its end as a cumulative probability × 2³², and the
// lowest and the highest number that it has, all of them equally likely.
type Segment [3]int64

// Bounds of a Table.
const (
	MostSegments = 4096
	TableEnd     = 1 << 32 // end of the last segment
)

// Check reports what is wrong with a table of numbers from 0 to most; nil for one that can
// be drawn from.
func (t Table) Check(most int64) error {
	if len(t) == 0 || len(t) > MostSegments {
		return fmt.Errorf("%d segments, expected 1 to %d", len(t), MostSegments)
	}
	last := int64(0)
	for i, s := range t {
		switch end, low, high := s[0], s[1], s[2]; {
		case end <= last || end > TableEnd:
			return fmt.Errorf("segment %d ends at %d after %d, expected rising ends up to 2^32", i, end, last)
		case low < 0 || high < low || high > most:
			return fmt.Errorf("segment %d has the numbers %d to %d, expected them rising, from 0 to %d", i, low, high, most)
		default:
			last = end
		}
	}
	if last != TableEnd {
		return errors.New("the last segment does not end at 2^32")
	}
	return nil
}

// Most returns the largest number of a table; 0 for none.
func (t Table) Most() int64 {
	most := int64(0)
	for _, s := range t {
		most = max(most, s[2])
	}
	return most
}

// Least returns the smallest number of a table; 0 for none.
func (t Table) Least() int64 {
	least := t.Most()
	for _, s := range t {
		least = min(least, s[1])
	}
	return least
}

// Mean returns the mean of what is drawn; 0 for an empty table.
func (t Table) Mean() float64 {
	mean, last := 0.0, int64(0)
	for _, s := range t {
		mean += float64(s[0]-last) / TableEnd * (float64(s[1]) + float64(s[2])) / 2
		last = s[0]
	}
	return mean
}

// MeanAbove returns the mean of what a draw is above a number, 0 for one below it.
func (t Table) MeanAbove(x float64) float64 {
	mean, last := 0.0, int64(0)
	for _, s := range t {
		low, high := float64(s[1])-0.5, float64(s[2])+0.5 // as if the numbers lay evenly in between
		over := max(0, (low+high)/2-x)
		if low < x && x < high {
			over = (high - x) * (high - x) / 2 / (high - low)
		}
		mean += float64(s[0]-last) / TableEnd * over
		last = s[0]
	}
	return mean
}

// Variance returns the variance of what is drawn; 0 for an empty table.
func (t Table) Variance() float64 {
	mean, variance, last := t.Mean(), 0.0, int64(0)
	for _, s := range t {
		n, off := float64(s[2]-s[1]+1), (float64(s[1])+float64(s[2]))/2-mean
		variance += float64(s[0]-last) / TableEnd * ((n*n-1)/12 + off*off)
		last = s[0]
	}
	return variance
}
