package stat

// AboveChord returns how far each point of a curve lies above the straight line
// between its first and last point, both axes scaled so that this line runs
// from (0, 0) to (1, 1); nil when the ends do not differ on both axes. Where a
// curve rises and flattens, the largest value is its knee.
//
// Source: V. Satopää et al., Finding a "Kneedle" in a Haystack, 2011, section
// III (the difference curve, without smoothing: a front has few points).
func AboveChord(xs, ys []float64) []float64 {
	if len(xs) == 0 {
		return nil
	}
	last := len(xs) - 1
	dx, dy := xs[last]-xs[0], ys[last]-ys[0]
	if dx == 0 || dy == 0 {
		return nil
	}
	above := make([]float64, len(xs))
	for i := range xs {
		above[i] = (ys[i]-ys[0])/dy - (xs[i]-xs[0])/dx
	}
	return above
}
