//go:build !race

package main

import (
	"testing"

	"netdyno/internal/run/check/checktest"
)

func TestConforms(t *testing.T) {
	t.Parallel()
	checktest.Conforms(t, 34)
}
