// Package profile reads the profiles that probes leave, in pprof's format.
package profile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

const maxProfile = 16 << 20 // bytes of a profile, decompressed

// Parse reads a gzipped pprof of bounded size.
func Parse(data []byte) (*profile.Profile, error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(packed, maxProfile+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(raw) > maxProfile {
		return nil, fmt.Errorf("decompress: more than %d bytes", maxProfile)
	}
	p, err := profile.ParseUncompressed(raw)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("parse as pprof: %w", err)
	}
	return p, nil
}
