package redisstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// refusals are the nodes of a deployment that answer but take no writes: one that follows another after a
// failover, has too few replicas or can't save. What they hold is read on and can't be changed, not even
// removed. Want of memory is none: removals are taken even then.
type refusals struct {
	// some spares the lock while all is well.
	some atomic.Bool
	mu   sync.Mutex
	// nodes has the nodes that refuse; true when that was told.
	nodes map[string]bool
}

var refusalCodes = []string{"READONLY", "NOREPLICAS", "MISCONF"}

// note takes in what a node answered. Any script that may write tells that writes are taken, also one that
// changed nothing: a server refuses it before it starts.
func (r *refusals) note(node string, cmd redis.Cmder) {
	err := cmd.Err()
	taken := err == nil || errors.Is(err, redis.Nil) // of a script without a reply
	if taken && (!r.some.Load() || cmd.Name() != "evalsha") {
		return
	}
	refused := slices.ContainsFunc(refusalCodes, func(code string) bool { return redis.HasErrorPrefix(err, code) })
	if !taken && !refused {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.nodes[node]; refused && !known {
		r.nodes[node] = false
	}
	if taken {
		delete(r.nodes, node)
	}
	r.some.Store(len(r.nodes) > 0)
}

// untold lists the nodes that refuse and of which that was not told yet.
func (r *refusals) untold() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var nodes []string
	for node, told := range r.nodes {
		if !told {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func (r *refusals) tell(nodes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, node := range nodes {
		if _, refuses := r.nodes[node]; refuses {
			r.nodes[node] = true
		}
	}
}

// of is a hook on the client of a node.
func (r *refusals) of(node string) redis.Hook { return refusalHook{r, node} }

type refusalHook struct {
	*refusals
	node string
}

// DialHook leaves dialling as it is.
func (h refusalHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook looks at single commands.
func (h refusalHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		h.note(h.node, cmd)
		return err
	}
}

// ProcessPipelineHook looks at pipelines.
func (h refusalHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			h.note(h.node, cmd)
		}
		return err
	}
}

// Refusing tells which roles have nodes that take no writes, once for each time that a node began to refuse
// them; it calls raise for nothing else, and again when raise fails. Whoever could not change what such a
// node holds has it count as absent: nothing is put into it while it refuses, so once is enough.
// Concurrent calls wait for each other.
func (s *Store) Refusing(raise func(roles []string) error) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	for _, server := range s.distinct() {
		nodes := server.refusals.untold()
		if len(nodes) == 0 {
			continue
		}
		var roles []string
		for _, role := range Roles() {
			if s.servers[role] == server {
				roles = append(roles, string(role))
			}
		}
		if err := raise(roles); err != nil {
			return err
		}
		server.refusals.tell(nodes)
	}
	return nil
}
