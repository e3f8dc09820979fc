package cpuset

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string][]int{
		"":          nil,
		"0":         {0},
		"0,2-3\n":   {0, 2, 3},
		"3-3,1, 0":  {0, 1, 3},
		"1,1-2":     {1, 2},
		"8190-8191": {8190, 8191},
	} {
		got, err := Parse(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"a", "1-", "-1", "3-2", "0,,1", "0-999999999", "1-2-3", "0x1"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
}

func TestFormatIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 0, 40, rapid.ID[int]).Draw(t, "cpus")
		slices.Sort(cpus)
		got, err := Parse(Format(cpus))
		if err != nil || !slices.Equal(got, cpus) {
			t.Fatalf("Parse(Format(%v)) = %v, %v", cpus, got, err)
		}
	})
}

func TestCommon(t *testing.T) {
	if got := Common([]int{0, 1, 4}, []int{1, 2, 4, 5}); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("Common = %v, want [1 4]", got)
	}
	if got := Common([]int{0}, []int{1}); got != nil {
		t.Errorf("Common of disjoint sets = %v, want none", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0,2-3")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := Parse(text)
		if err == nil && len(cpus) > 0 && (cpus[0] < 0 || cpus[len(cpus)-1] > MaxID) {
			t.Errorf("Parse(%q) = %v, outside 0 to %d", text, cpus, MaxID)
		}
	})
}
