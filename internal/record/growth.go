package record

// nsPerS turns the clocks' nanoseconds into seconds.
const nsPerS = 1e9

func seconds(fromNs, toNs int64) (float64, bool) {
	length := Growth(fromNs, toNs) / nsPerS
	return length, length > 0
}

// Growth returns to − from of a counter. It subtracts in floating point: a
// garbled counter may be anything, and an integer difference could wrap into a
// plausible one.
func Growth(from, to int64) float64 { return float64(to) - float64(from) }
