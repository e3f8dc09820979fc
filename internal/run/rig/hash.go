package rig

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"netdyno/internal/input"
)

// HashFile returns the SHA-256 of a file of this host, in hexadecimal: by it
// records name a program, and hosts that receive one compare it.
func HashFile(path string) (string, error) {
	f, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
