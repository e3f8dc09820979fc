package target

import "time"

// StreamsEnd shortens how long a stream is read, and returns what ends that.
func StreamsEnd(after time.Duration) (back func()) {
	before := streamed
	streamed = after
	return func() { streamed = before }
}
