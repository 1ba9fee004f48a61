package app_test

import (
	"testing"

	"circle/internal/testkit"
)

func TestSmoke(t *testing.T) {
	a := testkit.Start(t, testkit.NewStores(t))
	r := a.Do(t, "", `mutation{signUp(input:{name:"ann",password:"correct horse battery"}){session{accessToken player{id name fanCount joinedAt}} userErrors{code message field}}}`, nil)
	t.Log(r.Raw)
	r = a.Do(t, "", `mutation{signUp(input:{name:"ANN",password:"correct horse battery"}){session{accessToken player{id name}} userErrors{code message field}}}`, nil)
	t.Log(r.Raw)
	r = a.Do(t, "", `{homeFeed{nodes{id}}}`, nil)
	t.Log(r.Raw)
	r = a.Do(t, "", `{node(id:"x"){id}}`, nil)
	t.Log(r.Raw)
}
