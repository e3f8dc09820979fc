//go:build !race

package main

import (
	"testing"

	"netdyno/internal/run/check/checktest"
)

func TestConforms(t *testing.T) { checktest.Conforms(t, 56) }
