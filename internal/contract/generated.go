package contract

import (
	"crypto/sha256"
	"encoding/hex"
)

// GeneratedPackage returns the protobuf package under which a worker has the
// code generated for the messages of descriptors (Structure.Descriptors), in
// front of the package that they have themselves: type shop.Order is
// registered as GeneratedPackage(d) + ".shop.Order". The name is a hash of
// the content, so that one .proto is never taken for another, and no type
// that a worker already links has the same name.
func GeneratedPackage(descriptors []byte) string {
	sum := sha256.Sum256(descriptors)
	return "netdyno.own.h" + hex.EncodeToString(sum[:12])
}

// GeneratedDirectory is where the generated code goes in a worker's sources,
// seen from their root: one package for each file, and one file that imports
// them.
const GeneratedDirectory = "internal/work/codec/own"
