package social

// MaxPage is the largest page that may be asked for.
const MaxPage = 100

// Position is a place in a list: the part of the list, and the sort key of an entry within it.
type Position struct {
	Part uint8
	Key  int64
}

// PageArgs asks for the entries behind a position, or for the first ones.
type PageArgs struct {
	First int
	After *Position
}

// Below is the key below which the page begins, for lists of one part with the largest key first.
func (a PageArgs) Below() int64 {
	if a.After == nil {
		return MaxID + 1
	}
	return a.After.Key
}

// Behind is the key behind which the page begins, for lists of one part with the smallest key first.
func (a PageArgs) Behind() int64 {
	if a.After == nil {
		return 0
	}
	return a.After.Key
}

// Page is a piece of a list.
type Page[T any] struct {
	Items []T
	// HasNext says that at least one more entry follows.
	HasNext bool
}

// Cut makes a page of at most first entries out of what a store found when asked for one more.
func Cut[T any](found []T, first int) Page[T] {
	if len(found) > first {
		return Page[T]{Items: found[:first:first], HasNext: true}
	}
	return Page[T]{Items: found}
}
