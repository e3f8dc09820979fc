package doctor

import (
	"strings"
	"testing"
)

func TestOwnFiles(t *testing.T) {
	if err := OwnFiles(1024, 3, 5000); err != nil {
		t.Error(err)
	}
	for each, want := range map[int]string{
		0: "needs 144 and at most 16 are allowed here; ulimit -n 144", 1064: "needs 144, a worker 1064, and at most 16 are allowed here; ulimit -n 1064",
	} {
		if err := OwnFiles(16, 2, each); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OwnFiles(16, 2, %d) = %v, want what is needed and how to get it", each, err)
		}
	}
}
