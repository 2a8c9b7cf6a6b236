package main

import (
	"context"
	"sync"
)

// gates lets "release KEY" reach "slow KEY", whichever comes first.
type gates struct {
	mutex sync.Mutex
	byKey map[string]*gate
}

type gate struct {
	once sync.Once
	open chan struct{}
}

func (g *gates) at(key string) *gate {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.byKey == nil {
		g.byKey = make(map[string]*gate)
	}
	found, ok := g.byKey[key]
	if !ok {
		found = &gate{open: make(chan struct{})}
		g.byKey[key] = found
	}
	return found
}

// release opens the gate for good: a key serves one pair of "slow" and "release".
func (g *gates) release(key string) {
	found := g.at(key)
	found.once.Do(func() { close(found.open) })
}

// wait reports whether the gate opened before the task was given up.
func (g *gates) wait(ctx context.Context, key string) bool {
	select {
	case <-g.at(key).open:
		return true
	case <-ctx.Done():
		return false
	}
}
