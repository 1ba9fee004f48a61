package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"circle/internal/social"
)

// writer runs transactions and, once they have committed, the near stages of their events.
type writer struct {
	store TxStore
	near  Near
	ids   IDs
}

func (w *writer) do(ctx context.Context, fn func(tx Tx) error) error {
	var events []social.Event
	err := w.store.InTx(ctx, func(tx Tx) error {
		r := &recorder{Tx: tx, ids: w.ids}
		if err := fn(r); err != nil {
			return err
		}
		events = r.events
		return nil
	})
	if err != nil {
		return err
	}
	if len(events) > 0 {
		w.near.RunInline(ctx, events)
	}
	return nil
}

// recorder gives events their ids and keeps them until the transaction has committed.
type recorder struct {
	Tx
	ids    IDs
	events []social.Event
}

func (r *recorder) Append(ctx context.Context, event social.Event) error {
	id, err := nextID(ctx, r.ids)
	if err != nil {
		return err
	}
	event.ID, event.Epoch = social.EventID(id), 1
	if err := r.Tx.Append(ctx, event); err != nil {
		return err
	}
	r.events = append(r.events, event)
	return nil
}

func nextID(ctx context.Context, ids IDs) (int64, error) {
	id, err := ids.Next(ctx)
	if err != nil {
		return 0, social.Unavailable(err)
	}
	return id, nil
}

// idDraws bounds how often a fresh id that turns out to be taken is drawn anew.
const idDraws = 3

// create makes a thing under a fresh id, another one where that is taken, or reads the one that an earlier
// request with the same key has made, which insert tells.
func create[K ~int64, T any](insert func() (made T, repeated K, err error), read func(repeated K) (T, error)) (T, error) {
	for draw := 1; ; draw++ {
		made, repeated, err := insert()
		switch {
		case errors.Is(err, social.ErrIDTaken) && draw < idDraws:
			continue
		case err == nil && repeated != 0:
			return read(repeated)
		case err != nil:
			var none T
			return none, err
		}
		return made, nil
	}
}

// recall notes the result of an operation under an idempotency key, if there is one, and gives what an
// earlier request with the same input noted; 0 when there was none. Error: IDEMPOTENCY_CONFLICT.
func recall(ctx context.Context, tx Tx, key *string, r Remembered) (earlier int64, err error) {
	if key == nil {
		return 0, nil
	}
	r.Key = *key
	noted, found, err := tx.Remember(ctx, r)
	switch {
	case err != nil || !found:
		return 0, err
	case noted.Hash != r.Hash:
		return 0, social.Fail(social.CodeIdempotencyConflict, "This key was used for other input.", "idempotencyKey")
	}
	return noted.Result, nil
}

// inputHash covers an operation and its input, each part behind its length.
func inputHash(parts ...string) [32]byte {
	var b bytes.Buffer
	for _, part := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		b.Write(n[:])
		b.WriteString(part)
	}
	return sha256.Sum256(b.Bytes())
}
