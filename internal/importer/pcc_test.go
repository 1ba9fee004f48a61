package importer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/testkit/freshdb"
)

// small has each of the files' traps: Windows line ends, a byte order mark, lines that come twice or
// the other way round, friends of oneself, unknown ids, names that come twice, an object without
// likes, likers that come twice, brackets and colons, ids over 2^32.
var small = map[string]string{
	userFile:    "\ufeff6000000001,Ann\r\n6000000002,Bob, the builder\r\n6000000003,ann\r\n6000000004,\r\n6000000003,Again\r\n6000000005,Ann 2\r\n",
	friendsFile: "6000000001,6000000002\r\n6000000002,6000000001\r\n6000000001,6000000002\r\n6000000003,6000000003\r\n6000000001,9\r\n\r\n6000000004,6000000003\r\n",
	likeFile: "8000000001,6000000002,6000000004,9,6000000002,6000000001\r\n8000000002\r\n8000000003:[6000000003,6000000001]\r\n" +
		"8000000004,\r\n8000000001,6000000004,6000000005\r\n",
}

const likersQuery = "SELECT x.external_id FROM likes l JOIN external_ids x ON x.kind = 1 AND x.id = l.player_id" +
	" JOIN external_ids o ON o.kind = 2 AND o.id = l.feed_id WHERE o.external_id = ? AND liked = 1 ORDER BY like_id DESC"

func TestImportPCC(t *testing.T) {
	each(t, func(f *fixture) {
		epoch := f.count("SELECT SUM(epoch) FROM index_epochs")
		result, err := ImportPCC(t.Context(), f.Deps, files(t, small))
		require.NoError(t, err)
		want := Result{Players: 5, Follows: 4, Friends: 2, Feeds: 4, Likes: 6, Unknown: 2, Self: 1, Repeated: 5, FirstPlayer: 1}
		assert.Equal(t, want, result)
		f.requireExact()
		assert.Greater(t, f.count("SELECT SUM(epoch) FROM index_epochs"), epoch)

		assert.Equal(t, []string{"Ann", "Bob, the builder", "ann 2", "player", "Ann 2 2"}, f.rows("SELECT name FROM players ORDER BY id"))
		assert.Equal(t, []string{"6000000005", "6000000001", "6000000004", "6000000002"}, f.rows(likersQuery, "8000000001"))
		assert.Equal(t, []string{"6000000001", "6000000003"}, f.rows(likersQuery, "8000000003"))
		assert.Empty(t, f.rows(likersQuery, "8000000002"))
		assert.Equal(t, []string{"1 2 1", "2 1 1", "3 4 1", "4 3 1"}, f.rows("SELECT player_id, peer_id, friend_id > 0 FROM edges ORDER BY 1, 2"))
		assert.Equal(t, []string{"8000000001 1 1", "8000000002 2 1", "8000000003 3 1", "8000000004 4 1"},
			f.rows("SELECT external_id, author_id, visibility FROM feeds f JOIN external_ids x ON x.kind = 2 AND x.id = f.id ORDER BY f.id"))
		for _, text := range f.rows("SELECT excerpt FROM feeds WHERE whole = 1") {
			assert.Contains(t, text, "80000000")
		}
		next, err := f.store.NextPlayerID(t.Context())
		require.NoError(t, err)
		assert.Equal(t, social.PlayerID(6), next)
		id, found, err := f.store.LookupExternal(t.Context(), social.ExternalPlayer, "6000000004")
		require.NoError(t, err)
		assert.True(t, found)
		assert.EqualValues(t, 4, id)

		f.requireSafeAgain(want)
	})
}

// requireSafeAgain imports the same again, written another way, and then with a line more.
func (f *fixture) requireSafeAgain(want Result) {
	before := f.dump(1)
	other := map[string]string{likeFile: small[likeFile]}
	for _, name := range []string{userFile, friendsFile} {
		other[name] = strings.ReplaceAll(small[name], "\r\n", "\n") + "\n"
	}
	result, err := ImportPCC(f.t.Context(), f.Deps, files(f.t, other))
	require.NoError(f.t, err)
	want.Again = true
	assert.Equal(f.t, want, result)

	other[userFile] = "77,New\n" + strings.TrimPrefix(other[userFile], "\ufeff")
	_, err = ImportPCC(f.t.Context(), f.Deps, files(f.t, other))
	assert.ErrorContains(f.t, err, "user.csv:2: 6000000001 was imported before")
	other[userFile] = "77,New\n"
	_, err = ImportPCC(f.t.Context(), f.Deps, files(f.t, other))
	assert.ErrorContains(f.t, err, "like.csv:1: 8000000001 was imported before")
	assert.Equal(f.t, before, f.dump(1))
}

// dump is all that an import wrote, its ids counted from the first.
func (f *fixture) dump(firstPlayer int64) []string {
	f.t.Helper()
	first := f.count("SELECT position FROM import_progress WHERE source LIKE '%/ids'")
	var lines []string
	for _, q := range []struct {
		query string
		args  []any
	}{
		{"SELECT player_id - ?, peer_id - ?, following_id - ?, fan_id - ?, friend_id - ? FROM edges ORDER BY 1, 2",
			[]any{firstPlayer, firstPlayer, first, first, first}},
		{"SELECT feed_id - ?, player_id - ?, like_id - ?, liked FROM likes ORDER BY 1, 2", []any{first, firstPlayer, first}},
		{"SELECT id - ?, author_id - ?, visibility, deleted, excerpt, whole, version - ? FROM feeds ORDER BY id", []any{first, firstPlayer, first}},
		{"SELECT feed_id - ?, likes, comments, views FROM feed_counts ORDER BY 1", []any{first}},
		{"SELECT id - ?, name, name_key, level, bio, role, suspended, version - ? FROM players ORDER BY id", []any{firstPlayer, first}},
		{"SELECT player_id - ?, feeds, fans, following, friends FROM player_counts ORDER BY 1", []any{firstPlayer}},
		{"SELECT kind, external_id FROM external_ids ORDER BY 1, 2", nil},
		{"SELECT source, phase FROM import_progress ORDER BY 1", nil},
		{"SELECT next FROM sequences", nil},
	} {
		lines = append(append(lines, "-- "+q.query), f.rows(q.query, q.args...)...)
	}
	return lines
}

// large has several batches of edges.
func large(players int) map[string]string {
	var users, friends, likes strings.Builder
	for a := range players {
		fmt.Fprintf(&users, "p%d,Name %d\n", a, a%7)
		fmt.Fprintf(&likes, "o%d", a)
		for b := range players {
			fmt.Fprintf(&friends, "p%d,p%d\n", a, b)
			if (a+b)%3 == 0 {
				fmt.Fprintf(&likes, ",p%d", (a*b)%players)
			}
		}
		likes.WriteString("\n")
	}
	return map[string]string{userFile: users.String(), friendsFile: friends.String(), likeFile: likes.String()}
}

func TestAStoppedImportGoesOn(t *testing.T) {
	path := files(t, large(80))
	each(t, func(f *fixture) {
		whole := newFixture(t, another(t, f.url))
		_, err := ImportPCC(t.Context(), whole.Deps, path)
		require.NoError(t, err)
		whole.requireExact()

		// Each import is killed at every batch in turn, until one gets through.
		for kills := 0; ; kills++ {
			d := f.Deps
			d.Store = &mortal{Store: f.store, left: kills % 2, written: kills%2 == 1}
			_, err := ImportPCC(t.Context(), d, path)
			if err == nil {
				assert.Greater(t, kills, 5)
				break
			}
			require.ErrorIs(t, err, errKilled)
		}
		f.requireExact()
		assert.Equal(t, whole.dump(1), f.dump(1))
	})
}

// another is one more database of the kind of url.
func another(t *testing.T, url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return freshdb.SQLite(t)
	}
	return freshdb.MySQL(t, os.Getenv(freshdb.Variable))
}

func TestTwoImportsAtOnceWriteEverythingOnce(t *testing.T) {
	path := files(t, large(40))
	each(t, func(f *fixture) {
		other := newFixture(t, f.url)
		other.IDs = social.NewIDSource(29, f.Now, f.Now(), f.Now().Add(1<<40))
		errs := make(chan error, 2)
		for _, d := range []Deps{f.Deps, other.Deps} {
			go func() {
				_, err := ImportPCC(t.Context(), d, path)
				errs <- err
			}()
		}
		failed := errors.Join(<-errs, <-errs)
		if failed != nil {
			assert.ErrorContains(t, failed, "another process")
		}
		_, err := ImportPCC(t.Context(), f.Deps, path)
		require.NoError(t, err)
		f.requireExact()
		assert.Equal(t, 40, f.count("SELECT COUNT(*) FROM players"))
		assert.Equal(t, 41, f.count("SELECT next FROM sequences"))
	})
}

func TestNamesOfOthersAreLeftToThem(t *testing.T) {
	each(t, func(f *fixture) {
		version, err := f.IDs.Next(t.Context())
		require.NoError(t, err)
		_, err = f.store.CreateAccount(t.Context(), social.NewAccount{
			ID: 900, Name: "ANN", NameKey: "ann", JoinedAt: f.Now(), Version: version,
			Event: social.Event{ID: social.EventID(version), Kind: social.EventPlayer, Actor: 900, Subject: 900},
		})
		require.NoError(t, err)
		_, err = ImportPCC(t.Context(), f.Deps, files(t, small))
		require.NoError(t, err)
		assert.Equal(t, []string{"ann 3", "Bob, the builder", "ann 2", "player", "Ann 2 2", "ANN"},
			lower(f.rows("SELECT name FROM players ORDER BY id"), 0))
	})
}

// lower folds the case of one of the names, which depends on who came first.
func lower(names []string, at int) []string {
	names[at] = strings.ToLower(names[at])
	return names
}

// stealing is a store where somebody takes a name right before the players are written.
type stealing struct {
	Store
	steal func()
}

// WriteBatch implements Store.
func (s *stealing) WriteBatch(ctx context.Context, b *social.Batch) error {
	if len(b.Players) > 0 && s.steal != nil {
		s.steal()
		s.steal = nil
	}
	return s.Store.WriteBatch(ctx, b)
}

func TestANameTakenAtTheLastMoment(t *testing.T) {
	each(t, func(f *fixture) {
		d := f.Deps
		d.Store = &stealing{Store: f.store, steal: func() {
			require.NoError(t, f.store.WriteBatch(t.Context(), &social.Batch{
				Players: []social.BulkPlayer{{ID: 900, Name: "Bob, the builder", NameKey: "bob, the builder", JoinedAt: f.Now(), Version: 1}},
			}))
		}}
		_, err := ImportPCC(t.Context(), d, files(t, small))
		require.NoError(t, err)
		f.requireExact()
		assert.Equal(t, []string{"Bob, the builder 2"}, f.rows("SELECT name FROM players WHERE id = 2"))
	})
}

func TestOthersWriteMeanwhile(t *testing.T) {
	path := files(t, large(150))
	each(t, func(f *fixture) {
		server := newFixture(t, f.url)
		done := make(chan error, 1)
		go func() {
			_, err := ImportPCC(t.Context(), f.Deps, path)
			done <- err
		}()
		writes := 0
		for running := true; running; writes++ {
			select {
			case err := <-done:
				require.NoError(t, err)
				running = false
			default:
				_, err := server.store.NextPlayerID(t.Context())
				require.NoError(t, err)
			}
		}
		assert.Greater(t, writes, 10)
		f.requireExact()
	})
}

func TestArchives(t *testing.T) {
	contents := map[string]string{userFile: "a,Ann\r\nb,Bob\r\n", friendsFile: "a,b\r\n", likeFile: "o,b,a\r\n"}
	want, err := readPCC(files(t, contents))
	require.NoError(t, err)
	require.Len(t, want.pairs, 1)
	plain := tarOf(t, contents, friendsFile, "other.txt", likeFile, userFile)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err = z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	bzipped, err := base64.StdEncoding.DecodeString(
		"QlpoOTFBWSZTWbiTIlcAANx/hcsSCEBABX+AMAACQH8tnwAAAIAAgEgwALiiNUA0AGg0AAaPSGNGjQDJkNGI00DTARSTIKGm01HoJ6DSNPUaae" +
			"NH9fVk1NpALFBAb8K4bRk4441Ng7GEQkhrDice1ArdGTOhGn5T6scvNW9gBzzj0BvH2o2E3DfVdBRgJMmux4U5trcznW8iYx3MglzBrUKWtR3/" +
			"Osgx7n8QQnIaB80hYNhEwIIVA2BttRD/F3JFOFCQuJMiVw==")
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		data []byte
	}{{"tar", plain}, {"tar.gz", zipped.Bytes()}, {"tar.bz2", bzipped}} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sample")
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			got, err := readPCC(path)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			require.NoError(t, os.WriteFile(path, c.data[:len(c.data)*2/3], 0o600))
			_, err = readPCC(path)
			assert.Error(t, err, "cut off")
		})
	}
}

func tarOf(t *testing.T, contents map[string]string, names ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "./test/" + name, Mode: 0o600, Size: int64(len(contents[name])), Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(contents[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestArchivesThatAreNotWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"a file is missing", []string{userFile, likeFile}, "friends.csv is missing"},
		{"a file is there twice", []string{userFile, friendsFile, likeFile, userFile}, "user.csv is there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sample.tar")
			require.NoError(t, os.WriteFile(path, tarOf(t, small, c.names...), 0o600))
			_, err := readPCC(path)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, file, line, want string }{
		{"a user without a name", userFile, "7", "user.csv:3: want id,name"},
		{"a user without an id", userFile, ",Ann", "user.csv:3: an id is empty"},
		{"one friend", friendsFile, "1", "friends.csv:3: want id,id"},
		{"three friends", friendsFile, "1,2,3", "friends.csv:3: want id,id"},
		{"an empty friend", friendsFile, "1,", "friends.csv:3: an id is empty"},
		{"an object without an id", likeFile, ",1,2", "like.csv:3: an id is empty"},
		{"a blank inside an id", likeFile, "8,1 2", `like.csv:3: "1 2" is not an id`},
		{"an id that is no text", likeFile, "8,\xff", `like.csv:3: "\xff" is not an id`},
		{"something invisible in an id", likeFile, "8,\u200b1", `like.csv:3: "\u200b1" is not an id`},
		{"an id that is too long", likeFile, strings.Repeat("8", 65), "like.csv:3: an id is longer than 64 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			contents := map[string]string{userFile: "1,A\r\n\r\n", friendsFile: "1,1\r\n\r\n", likeFile: "8,1\r\n\r\n"}
			contents[c.file] += c.line + "\r\n"
			f := newFixture(t, freshdb.SQLite(t))
			_, err := ImportPCC(t.Context(), f.Deps, files(t, contents))
			require.ErrorContains(t, err, c.want)
			assert.Zero(t, f.count("SELECT COUNT(*) FROM import_progress"), "nothing is written")
		})
	}
	_, err := readPCC(files(t, map[string]string{userFile: "", friendsFile: "", likeFile: "8"}))
	assert.ErrorContains(t, err, "user.csv has no players")
	_, err = readPCC(files(t, map[string]string{userFile: "", friendsFile: ""}))
	assert.ErrorContains(t, err, "like.csv")
}

func TestNothingToImport(t *testing.T) {
	f := newFixture(t, freshdb.SQLite(t))
	result, err := ImportPCC(t.Context(), f.Deps, files(t, map[string]string{userFile: "", friendsFile: "1,2", likeFile: ""}))
	require.NoError(t, err)
	assert.Equal(t, Result{Unknown: 1, FirstPlayer: 1}, result)
}
