package record

import "testing"

func TestRenamedLevelsAreOnePerFactor(t *testing.T) {
	for _, c := range []struct{ factor, level, want string }{
		{"placement", "apart", "separate"}, {"placement", "shared", "shared"}, {"message", "apart", "apart"},
		{"transport", "brpc-asio", "baidu-std-asio"}, {"server", "brpc-asio", "baidu-std-asio"}, {"client", "brpc", "brpc"},
	} {
		if got := CurrentLevel(c.factor, c.level); got != c.want {
			t.Errorf("%s=%s is %s today, want %s", c.factor, c.level, got, c.want)
		}
	}
	if got := CurrentFactor("placement"); got != "placement" {
		t.Errorf("placement is %s today", got)
	}
	for _, r := range renamed {
		if got := CurrentLevel(r.factor, r.now); got != r.now {
			t.Errorf("%s=%s was renamed to %s, which was renamed to %s", r.factor, r.old, r.now, got)
		}
	}
}
