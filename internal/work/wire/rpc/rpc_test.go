package rpc

import (
	"bytes"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

func TestMethodsThatCannotBe(t *testing.T) {
	for _, method := range []string{"", "/", "a/b", "/a", "/a/", "//b", "/a/b/c", "/a b/c", "/a/{b}", "/a/b?c"} {
		if m, _, err := Given(load.Options{"method": method}); load.KindOf(err) != contract.SetupFailed {
			t.Errorf("method %q is read as %v, %v; want an error of kind setup", method, m, err)
		}
	}
}

func TestTheDefaultMethodIsNotGiven(t *testing.T) {
	for method, want := range map[string]bool{Own.String(): false, "/shop.v1.Shop/Buy": true, "/netdyno.v1.Exchange/Unary": true, "/EchoService/Echo": true} {
		m, given, err := Given(load.Options{"method": method})
		if err != nil || given != want || m.String() != method {
			t.Errorf("method %s is read as %s, given %v, %v", method, m, given, err)
		}
	}
}

func TestChunksJoinToWhatWasCut(t *testing.T) {
	for _, size := range []int64{1, 3, 7, 10, 11, 0} {
		for n := range 12 {
			content := []byte("abcdefghijk")[:n]
			setup := contract.Setup{Exchange: contract.Exchange{ChunkBytes: size}}
			c, pieces := NewChunker(setup, int64(n)), 0
			for range 2 { // Begin forgets the exchange before
				c.Begin()
				pieces = 0
				err := c.Cut(content, func(piece []byte) error {
					pieces++
					return c.Join(c.Block(piece).GetContent())
				})
				if err != nil || !bytes.Equal(c.Joined(), content) {
					t.Fatalf("%d bytes by %d: joined %q, %v", n, size, c.Joined(), err)
				}
			}
			want := 1
			if size > 0 && n > 0 {
				want = (n + int(size) - 1) / int(size)
			}
			if pieces != want {
				t.Errorf("%d bytes by %d: %d pieces, want %d", n, size, pieces, want)
			}
		}
	}
}

func TestNoMoreIsJoinedThanTheExchangeHas(t *testing.T) {
	c := NewChunker(contract.Setup{}, 4)
	if err := c.Join([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := c.Join([]byte("de")); load.KindOf(err) != contract.Invalid || string(c.Joined()) != "abc" {
		t.Errorf("joined %q, %v; want a refusal of kind invalid", c.Joined(), err)
	}
}
