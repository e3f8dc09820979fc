package load

// Agenda holds items by the time they are due, earliest first: a binary heap
// that does not allocate once grown (container/heap allocates on each push).
// One goroutine uses it.
type Agenda[T any] struct{ heap []entry[T] }

type entry[T any] struct {
	at   int64
	item T
}

// Len returns the number of items.
func (a *Agenda[T]) Len() int { return len(a.heap) }

// Push adds an item due at ns.
func (a *Agenda[T]) Push(at int64, item T) {
	a.heap = append(a.heap, entry[T]{})
	h, i := a.heap, len(a.heap)-1
	for ; i > 0 && h[(i-1)/2].at > at; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = entry[T]{at, item}
}

// Peek returns when the earliest item is due, and the item. The agenda must
// not be empty.
func (a *Agenda[T]) Peek() (int64, T) { return a.heap[0].at, a.heap[0].item }

// Pop removes the earliest item. The agenda must not be empty.
func (a *Agenda[T]) Pop() T {
	h := a.heap
	first, last := h[0].item, h[len(h)-1]
	h[len(h)-1] = entry[T]{} // let go of what it points to
	h = h[:len(h)-1]
	i := 0
	for 2*i+1 < len(h) {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if last.at <= h[child].at {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	a.heap = h
	return first
}
