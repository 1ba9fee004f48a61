package redisstore

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Entities reads and writes one kind of entity.
type Entities[K ~int64, V any] struct {
	store   *Store
	keys    family
	version func(V) int64
	pack    func(b []byte, v V) []byte
	// unpack reads what pack wrote; ok is false when it can't be meant.
	unpack func(id K, version int64, r *reader) (v V, ok bool)
}

// Get reads entities in one trip. What is missing, of another index epoch or not readable is absent
// from the answer.
func (e *Entities[K, V]) Get(ctx context.Context, ids []K) (map[K]V, error) {
	if len(ids) == 0 {
		return map[K]V{}, nil
	}
	read := e.strings
	if e.keys.place != nil {
		read = e.fields
	}
	found, err := read(ctx, ids)
	if err != nil {
		return nil, away("get "+e.keys.name, err)
	}
	return found, nil
}

func (e *Entities[K, V]) strings(ctx context.Context, ids []K) (map[K]V, error) {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = e.keys.key(int64(id))
	}
	values, err := e.server().strings(ctx, keys)
	if err != nil {
		return nil, err
	}
	return e.open(ids, values), nil
}

func (e *Entities[K, V]) fields(ctx context.Context, ids []K) (map[K]V, error) {
	asks, asked := e.asks(ids)
	values, err := e.server().fields(ctx, asks)
	if err != nil {
		return nil, err
	}
	return e.openFields(asked, values), nil
}

// asks sorts ids by the hash that holds them; asked are the ids of each ask's fields.
func (e *Entities[K, V]) asks(ids []K) (asks []fieldsAsk, asked [][]K) {
	place := make(map[int64]int)
	for _, id := range ids {
		number, field := e.keys.place(int64(id))
		i, known := place[number]
		if !known {
			i = len(asks)
			place[number] = i
			asks = append(asks, fieldsAsk{key: e.keys.key(number)})
			asked = append(asked, nil)
		}
		asks[i].fields = append(asks[i].fields, field)
		asked[i] = append(asked[i], id)
	}
	return asks, asked
}

func (e *Entities[K, V]) openFields(asked [][]K, values [][]string) map[K]V {
	found := make(map[K]V)
	for i := range asked {
		for id, v := range e.open(asked[i], values[i]) {
			found[id] = v
		}
	}
	return found
}

// open unpacks values of the current epoch.
func (e *Entities[K, V]) open(ids []K, values []string) map[K]V {
	epoch := e.epoch()
	found := make(map[K]V, len(ids))
	for i, id := range ids {
		version, rest, ok := splitHead(values[i], epoch)
		if !ok {
			continue
		}
		if v, ok := e.unpack(id, version, rest); ok {
			found[id] = v
		}
	}
	return found
}

// ticketLife is how long a ticket lies at most: longer than any fill takes.
const ticketLife = 10 * time.Second

// Reserve begins a fill of the given ids: it leaves a ticket, which Put asks for, where there is no
// value. Tickets of others are respected, unless over is set: then their fills come to nothing. It
// takes one trip, three when a server lacks the script.
func (e *Entities[K, V]) Reserve(ctx context.Context, ids []K, over bool) (ticket string, err error) {
	ticket = e.store.ticket()
	mode := "0"
	if over {
		mode = "1"
	}
	script := e.store.scripts.reserveString
	if e.keys.place != nil {
		script = e.store.scripts.reserveField
	}
	b := e.batch(script, ticket, mode, seconds(ticketLife))
	for _, id := range ids {
		b.add(int64(id))
	}
	return ticket, b.run(ctx, "reserve")
}

// Put stores each value under the current index epoch where the ticket of Reserve still lies, or over
// a value of an earlier epoch or version. It takes one trip, three when a server lacks the script.
// After an error some of the values may be stored.
func (e *Entities[K, V]) Put(ctx context.Context, values map[K]V, ticket string) error {
	script := e.store.scripts.putString
	if e.keys.place != nil {
		script = e.store.scripts.putField
	}
	epoch := e.epoch()
	b := e.batch(script, ticket, seconds(e.keys.ttl))
	for id, v := range values {
		b.add(int64(id), e.pack(appendHead(nil, epoch, e.version(v)), v))
	}
	return b.run(ctx, "put")
}

// Remove makes the given ids absent, in one trip.
func (e *Entities[K, V]) Remove(ctx context.Context, ids []K) error {
	pipe := e.server().client.Pipeline()
	for _, id := range ids {
		if e.keys.place == nil {
			pipe.Del(ctx, e.keys.key(int64(id)))
			continue
		}
		number, field := e.keys.place(int64(id))
		pipe.HDel(ctx, e.keys.key(number), field)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return away("remove "+e.keys.name, err)
	}
	return nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// batch is a script's work on several ids, in as few calls as the server allows.
type batch struct {
	server *server
	keys   family
	script *redis.Script
	shared []any
	most   int
	calls  []call
}

func (e *Entities[K, V]) batch(script *redis.Script, shared ...any) *batch {
	b := &batch{server: e.server(), keys: e.keys, script: script, shared: shared, most: 1}
	if b.server.single {
		b.most = keysPerCall
	}
	return b
}

// add adds an id with its own arguments; the field of a hash comes behind them.
func (b *batch) add(id int64, args ...any) {
	number := id
	if b.keys.place != nil {
		var field string
		number, field = b.keys.place(id)
		args = append(args, field)
	}
	b.addKey(b.keys.key(number), args...)
}

// addKey adds a key with its own arguments.
func (b *batch) addKey(key string, args ...any) {
	if len(b.calls) == 0 || len(b.calls[len(b.calls)-1].keys) == b.most {
		b.calls = append(b.calls, call{script: b.script, args: slices.Clone(b.shared)})
	}
	c := &b.calls[len(b.calls)-1]
	c.keys, c.args = append(c.keys, key), append(c.args, args...)
}

func (b *batch) run(ctx context.Context, what string) error {
	if len(b.calls) == 0 {
		return nil
	}
	if err := b.server.run(ctx, b.calls); err != nil {
		return away(what+" "+b.keys.name, err)
	}
	return nil
}

func outOfMemory(err error) bool { return redis.HasErrorPrefix(err, "OOM") }

// runOrDrop is run for changes of lists. Lists that a server has no memory for are made absent, which it
// takes even then.
func (b *batch) runOrDrop(ctx context.Context, what string) error {
	err := b.run(ctx, what)
	if !outOfMemory(err) {
		return err
	}
	pipe := b.server.client.Pipeline()
	for _, c := range b.calls {
		for _, key := range c.keys {
			pipe.Unlink(ctx, key)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return away("drop "+b.keys.name, err)
	}
	return nil
}

func (e *Entities[K, V]) server() *server { return e.store.servers[e.keys.role] }

func (e *Entities[K, V]) epoch() uint32 { return e.store.epochs[e.keys.role].Load() }
