package codec

import (
	"hash/crc32"
	"math/rand/v2"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// random returns n bytes that nothing can compress. They depend on the
// direction alone, so that both ends know them and a foreign server can serve
// them from a file.
func random(n int64, direction byte) []byte {
	content := make([]byte, n)
	var key [32]byte
	key[0] = direction
	_, _ = rand.NewChaCha8(key).Read(content) // never fails
	return content
}
