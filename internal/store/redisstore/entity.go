package redisstore

import (
	"context"
	"strconv"
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
	var asks []fieldsAsk
	var asked [][]K // the ids of each ask's fields
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
	values, err := e.server().fields(ctx, asks)
	if err != nil {
		return nil, err
	}
	found := make(map[K]V, len(ids))
	for i := range asks {
		for id, v := range e.open(asked[i], values[i]) {
			found[id] = v
		}
	}
	return found, nil
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

// Put stores each value under the current index epoch unless one of the same or a later version, or
// of a later epoch, is there. It takes one trip, three when a server lacks the script. After an error some of the
// values may be stored.
func (e *Entities[K, V]) Put(ctx context.Context, values map[K]V) error {
	if len(values) == 0 {
		return nil
	}
	if err := e.server().run(ctx, e.calls(values)); err != nil {
		return away("put "+e.keys.name, err)
	}
	return nil
}

// calls puts the values into as few calls as the server allows.
func (e *Entities[K, V]) calls(values map[K]V) []call {
	epoch := e.epoch()
	ttl := strconv.Itoa(int(e.keys.ttl.Seconds()))
	script, most := e.store.scripts.putString, 1
	if e.keys.place != nil {
		script = e.store.scripts.putField
	}
	if e.server().single {
		most = keysPerCall
	}
	var calls []call
	for id, v := range values {
		if len(calls) == 0 || len(calls[len(calls)-1].keys) == most {
			calls = append(calls, call{script: script, args: []any{ttl}})
		}
		c := &calls[len(calls)-1]
		packed := e.pack(appendHead(nil, epoch, e.version(v)), v)
		if e.keys.place == nil {
			c.keys, c.args = append(c.keys, e.keys.key(int64(id))), append(c.args, packed)
			continue
		}
		number, field := e.keys.place(int64(id))
		c.keys, c.args = append(c.keys, e.keys.key(number)), append(c.args, packed, field)
	}
	return calls
}

func (e *Entities[K, V]) server() *server { return e.store.servers[e.keys.role] }

func (e *Entities[K, V]) epoch() uint32 { return e.store.epochs[e.keys.role].Load() }
