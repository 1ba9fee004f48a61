package service

import (
	"context"

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
