package importer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"circle/internal/social"
)

// ImportPCC imports the performance contest's players, friendships, objects and likes from a folder
// or an archive: objects become public feeds, spread over the players as authors. Friends follow
// each other. The likes of an object keep the order of its line, the last is the newest. Names that
// come twice get a number.
//
// An import that was stopped anywhere goes on when it is called again with the same data, and one
// that is complete changes nothing. Errors in the files name file and line; nothing is written then.
// Data that are not the same but name a player or an object that was imported before are refused.
func ImportPCC(ctx context.Context, d Deps, path string) (Result, error) {
	result, err := importPCC(ctx, d, path)
	if err != nil {
		return Result{}, fmt.Errorf("import %s: %w", path, err)
	}
	return result, nil
}

func importPCC(ctx context.Context, d Deps, path string) (Result, error) {
	data, err := readPCC(path)
	if err != nil {
		return Result{}, err
	}
	state, err := beginPCC(ctx, d, data)
	if err != nil {
		return Result{}, err
	}
	again := state.Phase == phaseDone
	if !again {
		if err := newPCC(d, data, state).run(ctx); err != nil {
			return Result{}, err
		}
	}
	result := Result{
		Players: len(data.users), Follows: 2 * len(data.pairs), Friends: len(data.pairs), Feeds: len(data.objects),
		Unknown: data.unknown, Self: data.self, Repeated: data.repeated,
		Again: again, FirstPlayer: state.FirstPlayer,
	}
	for _, o := range data.objects {
		result.Likes += len(o.likers)
	}
	return result, nil
}

// beginPCC finds where the import stopped, or reserves what it needs and notes that it begins.
func beginPCC(ctx context.Context, d Deps, data *pccData) (social.ImportState, error) {
	state, found, err := d.Store.ImportState(ctx, data.source())
	if found || err != nil {
		return state, err
	}
	if err := data.checkNew(ctx, d.Store); err != nil {
		return state, err
	}
	likes := 0
	for _, o := range data.objects {
		likes += len(o.likers)
	}
	ids, err := reserve(ctx, d.IDs, int64(len(data.objects)+likes+1))
	if err != nil {
		return state, err
	}
	begin := social.ImportState{Source: data.source(), ImportPlace: social.ImportPlace{Phase: phaseEdges}, FirstID: ids.At(0)}
	return d.Store.BeginImport(ctx, begin, len(data.users))
}

// checkNew makes sure that nothing of the data was imported with other data.
func (d *pccData) checkNew(ctx context.Context, store Store) error {
	lines := map[string]int{}
	for _, u := range d.users {
		lines[u.id] = u.line
	}
	if err := checkNew(ctx, store, social.ExternalPlayer, userFile, lines); err != nil {
		return err
	}
	clear(lines)
	for _, o := range d.objects {
		lines[o.id] = o.line
	}
	return checkNew(ctx, store, social.ExternalFeed, likeFile, lines)
}

func checkNew(ctx context.Context, store Store, kind social.ExternalKind, file string, lines map[string]int) error {
	ids := make([]string, 0, len(lines))
	for id := range lines {
		ids = append(ids, id)
	}
	found, err := store.ExternalIDs(ctx, kind, ids)
	if err != nil {
		return err
	}
	first := ""
	for id := range found {
		if first == "" || lines[id] < lines[first] {
			first = id
		}
	}
	if first != "" {
		return fmt.Errorf("%s:%d: %s was imported before, with other data", file, lines[first], first)
	}
	return nil
}

// The phases of an import, in order. Players come last, so that whoever can see one sees all of it.
const (
	phaseEdges   = "edges"
	phaseLikes   = "likes"
	phaseFeeds   = "feeds"
	phasePlayers = "players"
	phaseEpochs  = "epochs"
	phaseDone    = "done"
)

// phase writes n rows, so many at once.
type phase struct {
	name   string
	n      int
	atOnce int
	// fill makes the rows from to to, which are the same each time.
	fill  func(b *social.Batch, from, to int)
	write func(ctx context.Context, b *social.Batch) error
}

func (p *pcc) phases() []phase {
	write := p.Store.WriteBatch
	return []phase{
		{phaseEdges, len(p.peers), edgesAtOnce, p.fillEdges, write},
		{phaseLikes, len(p.likes), likesAtOnce, p.fillLikes, write},
		{phaseFeeds, len(p.data.objects), feedsAtOnce, p.fillFeeds, write},
		{phasePlayers, len(p.data.users), playersAtOnce, p.fillPlayers, p.writePlayers},
		{phaseEpochs, 0, 1, func(*social.Batch, int, int) {}, p.writeEpochs},
	}
}

// run goes on from the import's place to its end.
func (p *pcc) run(ctx context.Context) error {
	phases := p.phases()
	total := 0
	for _, ph := range phases {
		total += ph.n
	}
	p.bar = newBar(p.Progress, total, "import")
	first := slices.IndexFunc(phases, func(ph phase) bool { return ph.name == p.state.Phase })
	if first < 0 {
		return fmt.Errorf("the import stands at %q, which this program does not know", p.state.Phase)
	}
	for _, before := range phases[:first] {
		_ = p.bar.Add(before.n)
	}
	_ = p.bar.Add(int(p.state.Position))
	for i, ph := range phases[first:] {
		next := phaseDone
		if first+i+1 < len(phases) {
			next = phases[first+i+1].name
		}
		if err := p.runPhase(ctx, ph, next); err != nil {
			return err
		}
	}
	return p.bar.Finish()
}

// runPhase writes what is left of a phase. Its last batch begins the next one.
func (p *pcc) runPhase(ctx context.Context, ph phase, next string) error {
	began := p.Now()
	for p.state.Phase == ph.name {
		from := int(p.state.Position)
		to := min(from+ph.atOnce, ph.n)
		place := social.ImportPlace{Phase: ph.name, Position: int64(to)}
		if to == ph.n {
			place = social.ImportPlace{Phase: next}
		}
		b := &social.Batch{Step: &social.ImportStep{Source: p.state.Source, From: p.state.ImportPlace, To: place}}
		ph.fill(b, from, to)
		if err := ph.write(ctx, b); err != nil {
			return err
		}
		p.state.ImportPlace = place
		_ = p.bar.Add(to - from)
	}
	p.Log.InfoContext(ctx, "import", "phase", ph.name, "rows", ph.n, "took", p.Now().Sub(began).Round(time.Millisecond))
	return nil
}

func (p *pcc) writePlayers(ctx context.Context, b *social.Batch) error {
	if len(b.Players) == 0 {
		return p.Store.WriteBatch(ctx, b)
	}
	first := b.Players[0].ID - p.state.FirstPlayer
	return p.Deps.writePlayers(ctx, p.names, p.bases[first:], b)
}

func (p *pcc) writeEpochs(ctx context.Context, b *social.Batch) error {
	if err := p.Store.RaiseEpochs(ctx); err != nil {
		return err
	}
	return p.Store.WriteBatch(ctx, b)
}
