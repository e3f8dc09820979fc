package export

import (
	"math"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"

	"netdyno/internal/hist"
)

const (
	mostBuckets = 160 // what SDKs use; backends take them
	finestScale = 8   // steps of 0.27 %; the recorded histogram has 0.1 %
)

// exponential is a histogram in seconds with exponential buckets, as fine as
// mostBuckets allow.
//
// Source: OpenTelemetry metrics data model, ExponentialHistogram.
func exponential(h *hist.Histogram) *metrics.ExponentialHistogramDataPoint {
	steps, p := h.Steps(), &metrics.ExponentialHistogramDataPoint{}
	sum, least, most := 0.0, math.Inf(1), 0.0
	for ns, n := range steps.All() {
		x := float64(ns) / 1e9
		p.Count += uint64(n)
		sum += x * float64(n)
		if ns == 0 {
			p.ZeroCount += uint64(n)
			continue
		}
		least, most = min(least, x), max(most, x)
	}
	p.Sum, p.Max = &sum, &most
	if most == 0 {
		return p
	}
	p.Scale = finestScale
	for bucketOf(most, p.Scale)-bucketOf(least, p.Scale) >= mostBuckets {
		p.Scale--
	}
	if p.ZeroCount > 0 {
		zero := 0.0
		p.Min = &zero
	} else {
		p.Min = &least
	}
	first := bucketOf(least, p.Scale)
	counts := make([]uint64, bucketOf(most, p.Scale)-first+1)
	for ns, n := range steps.All() {
		if ns > 0 {
			counts[bucketOf(float64(ns)/1e9, p.Scale)-first] += uint64(n)
		}
	}
	p.Positive = &metrics.ExponentialHistogramDataPoint_Buckets{Offset: first, BucketCounts: counts}
	return p
}

// bucketOf is the bucket that holds x: those with index i lie above base^i and reach to
// base^(i+1), base being 2^(2^-scale).
func bucketOf(x float64, scale int32) int32 {
	return int32(math.Ceil(math.Ldexp(math.Log2(x), int(scale)))) - 1
}
