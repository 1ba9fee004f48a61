package graph

import (
	"encoding/base64"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestCursorsGiveBackTheirPlace(t *testing.T) {
	c := NewCursors([]byte("key"))
	for _, p := range []social.Position{{}, {Part: 1, Key: 7}, {Part: 255, Key: social.MaxID}} {
		got, err := c.decode(list{kind: listLikesFriendsFirst, owner: 3, viewer: 4}, c.encode(list{kind: listLikesFriendsFirst, owner: 3, viewer: 4}, p))
		require.NoError(t, err)
		require.Equal(t, p, *got)
	}
	for _, p := range []social.LogPlace{{}, {Epoch: 1, Seq: 2}, {Epoch: math.MaxUint64, Seq: social.MaxID}} {
		got, err := c.decodeLive(list{kind: listHomeLive, owner: 3}, c.encodeLive(list{kind: listHomeLive, owner: 3}, p))
		require.NoError(t, err)
		require.Equal(t, p, *got)
	}
}

func TestCursorsOfOtherListsAndChangedOnesAreRefused(t *testing.T) {
	c := NewCursors([]byte("key"))
	page, live := list{kind: listHome, owner: 3}, list{kind: listHomeLive, owner: 3}
	pageCursor, liveCursor := c.encode(page, social.Position{Key: 7}), c.encodeLive(live, social.LogPlace{Epoch: 5, Seq: 7})
	foreign := NewCursors([]byte("another")).encodeLive(live, social.LogPlace{Epoch: 5, Seq: 7})
	whole, err := base64.RawURLEncoding.DecodeString(liveCursor)
	require.NoError(t, err)
	changed := func(at int) string {
		b := append([]byte(nil), whole...)
		b[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	for name, cursor := range map[string]string{
		"empty": "", "no base64": "!" + liveCursor[1:], "short": liveCursor[1:], "long": liveCursor + "AAAA", "of a page": pageCursor,
		"another key": foreign, "another version": changed(0), "another kind": changed(1), "another epoch": changed(2),
		"another sequence": changed(17), "another MAC": changed(len(whole) - 1),
	} {
		_, err := c.decodeLive(live, cursor)
		require.Equal(t, social.CodeBadUserInput, social.CodeOf(err), name)
	}
	_, err = c.decodeLive(list{kind: listHomeLive, owner: 4}, liveCursor)
	require.Equal(t, social.CodeBadUserInput, social.CodeOf(err), "somebody else's")
	_, err = c.decode(page, liveCursor)
	require.Equal(t, social.CodeBadUserInput, social.CodeOf(err), "of a stream")
	_, err = c.decode(list{kind: listHome, owner: 3, viewer: 1}, pageCursor)
	require.Equal(t, social.CodeBadUserInput, social.CodeOf(err), "for another viewer")
}
