package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// ioTimeout bounds a dial, a write and a read: what takes longer is quicker from MySQL.
	ioTimeout = 500 * time.Millisecond
	// stateReload is how old a picture of a Cluster may get; a failed node renews it at once.
	stateReload = 2 * time.Second
)

// poolSize bounds the connections to one node. A trip is mostly work for the processor, so a few for
// each of them carry all that this process can ask for; callers beyond that wait for their turn.
var poolSize = 10 * runtime.GOMAXPROCS(0)

// The driver has one logger for the whole process. What it reports comes back as an error too, so
// it belongs among the details.
func init() { redis.SetLogger(driverLog{}) }

type driverLog struct{}

func (driverLog) Printf(ctx context.Context, format string, v ...any) {
	slog.DebugContext(ctx, fmt.Sprintf(format, v...))
}

// server is a client of one deployment.
type server struct {
	client redis.UniversalClient
	// single says that all keys are on one node, so that one command may name any of them.
	single bool
	// each calls fn for every node that takes writes.
	each func(ctx context.Context, fn func(ctx context.Context, node *redis.Client) error) error
	// refusals are the nodes that take no writes.
	refusals *refusals
}

// newServer makes a client. It connects when it is first used.
func newServer(t topology, hooks []redis.Hook, log *slog.Logger) *server {
	var s *server
	switch t.scheme {
	case schemeSentinel:
		s = newSingle(redis.NewFailoverClient(t.options().Failover()), hooks, log)
	case schemeRing:
		return newRing(t, hooks, log)
	case schemeCluster:
		s = newCluster(t.options().Cluster(), hooks, log)
	default:
		if !t.readReplicas {
			return newSingle(redis.NewClient(t.options().Simple()), hooks, log)
		}
		options := t.options().Cluster()
		options.ClusterSlots = t.oneShard
		s = newCluster(options, hooks, log)
		s.single = true
	}
	return s
}

// options are the settings that all topologies share.
func (t topology) options() *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs:                 t.hosts,
		DB:                    t.db,
		Username:              t.user,
		Password:              t.password,
		MasterName:            t.master,
		ReadOnly:              t.readReplicas,
		MaxRetries:            -1, // a failed read goes to MySQL, a failed write to the outbox
		DialTimeout:           t.timeout,
		DialerRetries:         1,
		ReadTimeout:           t.timeout,
		WriteTimeout:          t.timeout,
		PoolTimeout:           t.timeout,
		ContextTimeoutEnabled: true,
		PoolSize:              poolSize,
		MaxActiveConns:        poolSize,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
	if t.scheme == schemeTLS {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// oneShard describes a primary with replicas as a Cluster of one shard.
func (t topology) oneShard(context.Context) ([]redis.ClusterSlot, error) {
	nodes := make([]redis.ClusterNode, len(t.hosts))
	for i, host := range t.hosts {
		nodes[i].Addr = host
	}
	return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: nodes}}, nil
}

func newSingle(client *redis.Client, hooks []redis.Hook, log *slog.Logger) *server {
	addHooks(client, hooks)
	refusals := &refusals{nodes: make(map[string]bool)}
	client.AddHook(refusals.of(client.Options().Addr))
	client.AddHook(newBreaker(client.Options().Addr, log, nil))
	return &server{client: client, single: true, refusals: refusals, each: func(ctx context.Context, fn func(context.Context, *redis.Client) error) error {
		return fn(ctx, client)
	}}
}

func newCluster(options *redis.ClusterOptions, hooks []redis.Hook, log *slog.Logger) *server {
	options.ClusterStateReloadInterval = stateReload
	// Routing by each command's policy would split commands by slot, at four times the cost of the
	// pipelines used here.
	options.DisableRoutingPolicies = true
	client := redis.NewClusterClient(options)
	addHooks(client, hooks)
	refusals := &refusals{nodes: make(map[string]bool)}
	client.OnNewNode(func(node *redis.Client) {
		node.AddHook(refusals.of(node.Options().Addr))
		node.AddHook(newBreaker(node.Options().Addr, log, func(ctx context.Context) { client.ReloadState(ctx) }))
	})
	return &server{client: client, each: client.ForEachMaster, refusals: refusals}
}

// newRing spreads keys over servers that don't know each other. A server that is away keeps its
// keys: were they moved to another one meanwhile, it would come back with old values.
func newRing(t topology, hooks []redis.Hook, log *slog.Logger) *server {
	o := t.options()
	addrs := make(map[string]string, len(t.hosts))
	for _, host := range t.hosts {
		addrs[host] = host
	}
	refusals := &refusals{nodes: make(map[string]bool)}
	client := redis.NewRing(&redis.RingOptions{
		Addrs:                 addrs,
		HeartbeatFrequency:    time.Hour,
		HeartbeatFn:           func(context.Context, *redis.Client) bool { return true },
		Username:              o.Username,
		Password:              o.Password,
		MaxRetries:            o.MaxRetries,
		DialTimeout:           o.DialTimeout,
		DialerRetries:         o.DialerRetries,
		ReadTimeout:           o.ReadTimeout,
		WriteTimeout:          o.WriteTimeout,
		PoolTimeout:           o.PoolTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		PoolSize:              o.PoolSize,
		MaxActiveConns:        o.MaxActiveConns,
		DisableIdentity:       o.DisableIdentity,
		NewClient: func(options *redis.Options) *redis.Client {
			options.MaintNotificationsConfig = o.MaintNotificationsConfig
			node := redis.NewClient(options)
			node.AddHook(refusals.of(options.Addr))
			node.AddHook(newBreaker(options.Addr, log, nil))
			return node
		},
	})
	addHooks(client, hooks)
	return &server{client: client, each: client.ForEachShard, refusals: refusals}
}

// addHooks adds what counts and traces calls.
func addHooks(client redis.UniversalClient, hooks []redis.Hook) {
	for _, hook := range hooks {
		client.AddHook(callHook{hook})
	}
}

// callHook keeps the handshakes of new connections from a hook.
type callHook struct{ redis.Hook }

func (h callHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	hooked := h.Hook.ProcessHook(next)
	return func(ctx context.Context, cmd redis.Cmder) error {
		if isHandshake(ctx) {
			return next(ctx, cmd)
		}
		return hooked(ctx, cmd)
	}
}

func (h callHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	hooked := h.Hook.ProcessPipelineHook(next)
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if isHandshake(ctx) {
			return next(ctx, cmds)
		}
		return hooked(ctx, cmds)
	}
}
