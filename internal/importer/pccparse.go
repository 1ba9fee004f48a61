package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"circle/internal/social"
)

// maxLine bounds a line: that is an object with some five million likes.
const maxLine = 64 << 20

// eachLine calls parse for each line that holds something. Errors begin with file and line.
func eachLine(file string, r io.Reader, parse func(line string, number int) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := lines.Text()
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := parse(line, number); err != nil {
			return fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, number+1, err)
	}
	return nil
}

// parseUser reads "id,name". The name is all behind the first comma.
func parseUser(line string) (id, name string, err error) {
	id, name, ok := strings.Cut(line, ",")
	if !ok {
		return "", "", errors.New("want id,name")
	}
	id, err = parseExternalID(id)
	return id, name, err
}

// parsePair reads "id,id".
func parsePair(line string) (a, b string, err error) {
	a, b, ok := strings.Cut(line, ",")
	if !ok || strings.Contains(b, ",") {
		return "", "", errors.New("want id,id")
	}
	if a, err = parseExternalID(a); err != nil {
		return "", "", err
	}
	b, err = parseExternalID(b)
	return a, b, err
}

// parseLikes reads "object,id,id,…", also written "object:[id,id,…]". An object may have no likes.
func parseLikes(line string) (object string, likers []string, err error) {
	object, rest := line, ""
	if end := strings.IndexAny(line, ",:["); end >= 0 {
		object, rest = line[:end], line[end:]
	}
	if object, err = parseExternalID(object); err != nil {
		return "", nil, err
	}
	for field := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(",:[]", r) }) {
		if strings.TrimSpace(field) == "" {
			continue
		}
		liker, err := parseExternalID(field)
		if err != nil {
			return "", nil, err
		}
		likers = append(likers, liker)
	}
	return object, likers, nil
}

// parseExternalID takes an id as it stands between the separators.
func parseExternalID(s string) (string, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", errors.New("an id is empty")
	case len(s) > social.MaxExternalIDLength:
		return "", fmt.Errorf("an id is longer than %d bytes", social.MaxExternalIDLength)
	case !utf8.ValidString(s), strings.ContainsFunc(s, notInID):
		return "", fmt.Errorf("%q is not an id", s)
	}
	return s, nil
}

func notInID(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsGraphic(r) || strings.ContainsRune(`,:[]"`, r)
}
