package record

import (
	"slices"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		study Study
		want  []int
	}{
		{Study{Blocks: 8}, []int{8}},
		{Study{Blocks: 16, OwnLooks: []int{6, 10, 16}}, []int{6, 10, 16}},
		{Study{Blocks: 16, OwnLooks: []int{6, 10, 16}, Further: []int{26, 42}}, []int{6, 10, 16, 26, 42}},
		{Study{Blocks: 7, Further: []int{10}}, []int{7, 10}},
		{Study{Blocks: 10, OwnLooks: []int{10, 6}}, []int{10}}, // of damaged headers
		{Study{Blocks: 3, OwnLooks: []int{-1, 3}}, []int{3}},
		{Study{Blocks: 10, Further: []int{10}}, []int{10}},
		{Study{Blocks: 10, OwnLooks: []int{6, 8}}, []int{10}},
	} {
		if got := c.study.Looks(); !slices.Equal(got, c.want) {
			t.Errorf("looks of %+v: %v, want %v", c.study, got, c.want)
		}
	}
}
