//go:build !race

package goconnect

const raced = false
