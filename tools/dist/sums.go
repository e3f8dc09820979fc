package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sums writes SHA256SUMS, as sha256sum -c reads it, of every release file.
func (r release) sums() error {
	names, err := filepath.Glob(filepath.Join(r.dir, "netdyno-*"))
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range names { // sorted by Glob
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
