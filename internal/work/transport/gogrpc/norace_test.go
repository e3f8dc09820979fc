//go:build !race

package gogrpc

const raced = false
