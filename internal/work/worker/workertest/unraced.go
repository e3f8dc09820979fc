//go:build !race

package workertest

const raced = false
