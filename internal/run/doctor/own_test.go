package doctor

import (
	"strings"
	"testing"
)

func TestOwnFiles(t *testing.T) {
	if err := OwnFiles(1024, 3); err != nil {
		t.Error(err)
	}
	if err := OwnFiles(16, 2); err == nil || !strings.Contains(err.Error(), "needs 144 and at most 16 are allowed here; ulimit -n 144") {
		t.Errorf("OwnFiles(16, 2) = %v, want what is needed and how to get it", err)
	}
}
