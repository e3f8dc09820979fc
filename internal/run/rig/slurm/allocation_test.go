package slurm

import (
	"slices"
	"strings"
	"testing"
)

func TestPerNode(t *testing.T) {
	for text, want := range map[string][]int{
		"4": {4}, "72(x2),36": {72, 72, 36}, "1,2,3": {1, 2, 3}, "8(x1)": {8},
	} {
		if got, err := perNode(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "4(x)", "4(x0)", "0", "-1", "4(x99999999)", "4,,4"} {
		if got, err := perNode(text); err == nil || !strings.Contains(err.Error(), "not a count such as 4 or 4(x3)") {
			t.Errorf("%q: %v, %v; want an error that says what is expected", text, got, err)
		}
	}
}

func FuzzPerNode(f *testing.F) {
	f.Add("72(x2),36")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := perNode(text)
		if err == nil && slices.ContainsFunc(got, func(n int) bool { return n < 1 }) {
			t.Errorf("%q: %v", text, got)
		}
	})
}

func TestPrefixNamesOneNodeAndAllOfIt(t *testing.T) {
	line := strings.Join(prefix("/usr/bin/srun", "7", "n3", 16), " ")
	for _, part := range []string{"/usr/bin/srun --jobid=7 ", "--nodelist=n3 ", "--overlap", "--cpus-per-task=16", "--mem=0"} {
		if !strings.Contains(line+" ", part) {
			t.Errorf("%s lacks %s", line, part)
		}
	}
	if line := strings.Join(prefix("srun", "7", "n3", 0), " "); strings.Contains(line, "cpus-per-task") {
		t.Errorf("of unknown CPUs it asks for some: %s", line)
	}
}
