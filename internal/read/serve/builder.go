package serve

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// builder makes pages that take a while, one at a time: the machine may be measuring.
// It keeps the latest.
type builder struct {
	turn chan struct{} // holds one element while a page is being made

	mu   sync.Mutex
	kept []built // the one that was asked for last at the end
}

type built struct {
	key, stamp string
	text       []byte
}

const keptPages = 4

func newBuilder() *builder { return &builder{turn: make(chan struct{}, 1)} }

// page returns a page of some name as it is under a stamp. It makes it when it is not
// kept, and waits for its turn no longer than ctx.
func (b *builder) page(ctx context.Context, key, stamp string, build func(*bytes.Buffer) error) ([]byte, error) {
	if text := b.find(key, stamp); text != nil {
		return text, nil
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if text := b.find(key, stamp); text != nil { // another request made it meanwhile
		return text, nil
	}
	var text bytes.Buffer
	if err := build(&text); err != nil {
		return nil, err
	}
	b.keep(built{key, stamp, text.Bytes()})
	return text.Bytes(), nil
}

func (b *builder) find(key, stamp string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.kept, func(p built) bool { return p.key == key && p.stamp == stamp })
	if i < 0 {
		return nil
	}
	found := b.kept[i]
	b.kept = append(slices.Delete(b.kept, i, i+1), found)
	return found.text
}

func (b *builder) keep(page built) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = append(slices.DeleteFunc(b.kept, func(p built) bool { return p.key == page.key }), page)
	b.kept = slices.Delete(b.kept, 0, max(0, len(b.kept)-keptPages))
}
