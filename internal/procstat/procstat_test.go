package procstat

import (
	"os"
	"testing"
)

// A name may hold what ends a name, a line may be torn, a process may have ended.
func TestParse(t *testing.T) {
	s := Parse([]byte("12 (a) b (c)) T 7 12 12 0 -1 4194304 99"))
	if s.State() != 'T' || s.Number(Parent) != 7 || s.Number(Flags) != 4194304 || s.Has(User) || s.Number(Began) != 0 {
		t.Errorf("state %c, parent %d, flags %d, user %v", s.State(), s.Number(Parent), s.Number(Flags), s.Has(User))
	}
	for _, torn := range []string{"", "12 (torn", "12 (a)"} {
		if s := Parse([]byte(torn)); s.State() != 0 || s.Has(Parent) {
			t.Errorf("Parse(%q) = %q", torn, s)
		}
	}
}

func TestOf(t *testing.T) {
	if s := Of(os.Getpid()); s.Number(Parent) != int64(os.Getppid()) || !s.Has(Began) {
		t.Errorf("this process is %q", s)
	}
	if s := Of(1 << 30); s != nil {
		t.Errorf("no process is %q", s)
	}
}
