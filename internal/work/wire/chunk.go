package wire

// Sizes of the chunks of a stream, in bytes.
const (
	DefaultChunk = 64 << 10
	MaxChunk     = 64 << 20
)
