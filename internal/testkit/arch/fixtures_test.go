package arch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChecksFindWhatIsWrong(t *testing.T) {
	const logic, elsewhere = "internal/service/a.go", "internal/app/a.go"
	for _, c := range []struct {
		name, check, path, source string
		want                      []string
	}{
		{"400 lines", "short", elsewhere, "package p\n" + strings.Repeat("\n", 399), nil},
		{"401 lines", "short", elsewhere, "package p\n" + strings.Repeat("\n", 400), []string{elsewhere + ": 401 lines, over 400"}},

		{"commented", "documented", elsewhere, "package p\n\n// F does.\nfunc F() {}\n\n// T is.\ntype T int\n\n// M does.\nfunc (*T) M() {}\n", nil},
		{"commented group", "documented", elsewhere, "package p\n\n// The letters.\nconst (\n\tA = 1\n\tB = 2\n)\n", nil},
		{"comments in a group", "documented", elsewhere, "package p\n\nconst (\n\tA = 1 // is one\n\t// B is two.\n\tB = 2\n)\n", nil},
		{"private", "documented", elsewhere, "package p\n\nfunc f() {}\n\ntype t int\n\nfunc (t) M() {}\n", nil},
		{"a test's", "documented", "a_test.go", "package p\n\nfunc TestF() {}\n", nil},
		{"function", "documented", elsewhere, "package p\n\nfunc F() {}\n", []string{elsewhere + ":3: F has no comment"}},
		{"method", "documented", elsewhere, "package p\n\n// T is.\ntype T[K any] int\n\nfunc (*T[K]) M() {}\n", []string{elsewhere + ":6: M has no comment"}},
		{"type", "documented", elsewhere, "package p\n\ntype T int\n", []string{elsewhere + ":3: T has no comment"}},
		{"one of a group", "documented", elsewhere, "package p\n\nconst (\n\tA = 1 // is one\n\tb, B = 2, 3\n)\n", []string{elsewhere + ":5: B has no comment"}},

		{"a clock in a field", "clock", logic, "package p\n\nimport \"time\"\n\ntype s struct{ Now func() time.Time }\n", nil},
		{"the clock where it is set", "clock", elsewhere, "package p\n\nimport \"time\"\n\nvar now = time.Now\n", nil},
		{"the clock in logic", "clock", logic, "package p\n\nimport \"time\"\n\nvar t = time.Now()\n", []string{logic + ":5: time.Now, where the clock is a field"}},
		{"the hidden clock", "clock", logic, "package p\n\nimport \"time\"\n\nfunc f(t time.Time) any { return time.Since(t) }\n", []string{logic + ":5: time.Since, where the clock is a field"}},

		{"no key", "keys", elsewhere, "package p\n\nvar a, b = \"feed: %w\", \"a feed:\"\n", nil},
		{"a key in the list", "keys", keysFile, "package p\n\nvar a = \"feed:{%d}\"\n", nil},
		{"a key's beginning", "keys", elsewhere, "package p\n\nvar a = \"feed:\"\n", []string{elsewhere + ":3: \"feed:\" spells a key of Redis, which " + keysFile + " alone does"}},
		{"a key's pattern", "keys", elsewhere, "package p\n\nvar a = `simple:{%d}`\n", []string{elsewhere + ":3: `simple:{%d}` spells a key of Redis, which " + keysFile + " alone does"}},
	} {
		t.Run(c.check+"/"+c.name, func(t *testing.T) {
			f, err := parse(c.path, []byte(c.source))
			require.NoError(t, err)
			require.Equal(t, c.want, checks[c.check](f))
		})
	}
}

func TestKeyFamiliesAreReadFromTheList(t *testing.T) {
	f, err := parse(keysFile, []byte("package p\n\nvar a, b = family{name: \"a\", ttl: 1}, family{role: r, name: \"b\"}\n\nvar c = other{name: \"c\"}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, keyFamilies(f))
}
