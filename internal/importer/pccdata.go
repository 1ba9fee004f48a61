package importer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
)

// pccData is what the contest's files say. Players are named by their place in users.
type pccData struct {
	users   []pccUser
	objects []pccObject
	// pairs are friends, each pair once: the smaller of the two in the upper half of the number,
	// sorted.
	pairs []uint64

	unknown, self, repeated int
}

type pccUser struct {
	id   string
	name string
	line int
}

type pccObject struct {
	id   string
	line int
	// likers are in the order of their likes, each once.
	likers []uint32
}

// readPCC reads the files in a folder or an archive.
func readPCC(path string) (*pccData, error) {
	p := pccParser{ids: map[string]uint32{}, objects: map[string]int{}, data: &pccData{}}
	err := eachPCCFile(path, func(name string, r io.Reader) error {
		return eachLine(name, r, map[string]func(string, int) error{
			userFile: p.user, friendsFile: p.pair, likeFile: p.likes,
		}[name])
	})
	if err != nil {
		return nil, err
	}
	if len(p.data.users) == 0 && len(p.data.objects) > 0 {
		return nil, fmt.Errorf("%s has no players for the objects of %s", userFile, likeFile)
	}
	p.resolve()
	return p.data, nil
}

// pccParser reads the files in any order: until all are read, the data name players by numbers in
// the order in which their ids were met.
type pccParser struct {
	ids     map[string]uint32
	objects map[string]int
	// users has the number of each of the data's users.
	users []uint32
	data  *pccData
}

func (p *pccParser) number(id string) uint32 {
	n, ok := p.ids[id]
	if !ok {
		n = uint32(len(p.ids))
		p.ids[id] = n
	}
	return n
}

func (p *pccParser) user(line string, number int) error {
	id, name, err := parseUser(line)
	if err != nil {
		return err
	}
	p.users = append(p.users, p.number(id))
	p.data.users = append(p.data.users, pccUser{id: id, name: name, line: number})
	return nil
}

func (p *pccParser) pair(line string, _ int) error {
	a, b, err := parsePair(line)
	if err != nil {
		return err
	}
	p.data.pairs = append(p.data.pairs, pack(p.number(a), p.number(b)))
	return nil
}

func (p *pccParser) likes(line string, number int) error {
	id, likers, err := parseLikes(line)
	if err != nil {
		return err
	}
	at, ok := p.objects[id]
	if !ok {
		at = len(p.data.objects)
		p.objects[id] = at
		p.data.objects = append(p.data.objects, pccObject{id: id, line: number})
	}
	object := &p.data.objects[at]
	object.likers = slices.Grow(object.likers, len(likers))
	for _, liker := range likers {
		object.likers = append(object.likers, p.number(liker))
	}
	return nil
}

const nobody = ^uint32(0)

// resolve makes places among the users of the numbers, and leaves out what does not count.
func (p *pccParser) resolve() {
	d := p.data
	places := slices.Repeat([]uint32{nobody}, len(p.ids))
	users := d.users[:0]
	for i, number := range p.users {
		if places[number] != nobody {
			d.repeated++
			continue
		}
		places[number] = uint32(len(users))
		users = append(users, d.users[i])
	}
	d.users = users
	d.resolvePairs(places)
	lastSeen := make([]int, len(users))
	for i := range d.objects {
		d.resolveLikers(&d.objects[i], places, lastSeen, i+1)
	}
}

func (d *pccData) resolvePairs(places []uint32) {
	pairs := d.pairs[:0]
	for _, pair := range d.pairs {
		a, b := unpack(pair)
		a, b = places[a], places[b]
		switch {
		case a == nobody || b == nobody:
			d.unknown++
		case a == b:
			d.self++
		default:
			pairs = append(pairs, pack(min(a, b), max(a, b)))
		}
	}
	slices.Sort(pairs)
	d.pairs = slices.Compact(pairs)
	d.repeated += len(pairs) - len(d.pairs)
}

// resolveLikers keeps each liker's first place. lastSeen holds the mark of the object that a player
// was last seen with.
func (d *pccData) resolveLikers(object *pccObject, places []uint32, lastSeen []int, mark int) {
	likers := object.likers[:0]
	for _, number := range object.likers {
		switch place := places[number]; {
		case place == nobody:
			d.unknown++
		case lastSeen[place] == mark:
			d.repeated++
		default:
			lastSeen[place] = mark
			likers = append(likers, place)
		}
	}
	object.likers = likers
}

func pack(a, b uint32) uint64          { return uint64(a)<<32 | uint64(b) }
func unpack(pair uint64) (a, b uint32) { return uint32(pair >> 32), uint32(pair) }

// source names the data by what they say, however the files say it.
func (d *pccData) source() string {
	h := digest{sha256.New()}
	h.number(len(d.users))
	for _, u := range d.users {
		h.text(u.id)
		h.text(u.name)
	}
	h.number(len(d.pairs))
	for _, pair := range d.pairs {
		h.number(int(pair))
	}
	for _, o := range d.objects {
		h.text(o.id)
		h.number(len(o.likers))
		for _, liker := range o.likers {
			h.number(int(liker))
		}
	}
	return "pcc:" + hex.EncodeToString(h.Sum(nil)[:16])
}

type digest struct{ hash.Hash }

func (d digest) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digest) text(s string) {
	d.number(len(s))
	io.WriteString(d, s)
}
